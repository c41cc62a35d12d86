package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// tried are the operations with a body whose examples name nothing of the org's own, in the order of trying.
var tried = []string{
	"custom_fields.create", "companies.create", "companies.upsert_batch", "contacts.create", "contacts.upsert_batch",
	"exports.create", "segments.create", "webhooks.create", "members.invite", "billing.preview_plan_change",
	"me.update", "org.update",
}

// untried are the operations that a test of the page leaves out.
var untried = map[string]string{
	"events.stream":              "it never ends",
	"domain.get":                 "404 without a domain",
	"white_label.get_logo":       "404 without a logo",
	"connect.refresh_onboarding": "a redirect for browsers",
	"connect.finish_onboarding":  "a redirect for browsers",
}

// operation is an operation of the document.
type operation struct{ id, tag string }

// operations returns the operations to try: those of tried, then of each tag the first GET without an id in its path.
func (s *server) operations(t *testing.T) []operation {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.api+"/openapi.json", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if err := json.NewDecoder(answer.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	bodies, reads := make([]operation, len(tried)), []operation{}
	for path, item := range doc.Paths {
		for method, raw := range item {
			var op struct {
				ID   string   `json:"operationId"`
				Tags []string `json:"tags"`
			}
			if method == "parameters" || json.Unmarshal(raw, &op) != nil || len(op.Tags) == 0 {
				continue
			}
			one := operation{op.ID, op.Tags[0]}
			if at := slices.Index(tried, op.ID); at >= 0 {
				bodies[at] = one
			} else if _, left := untried[op.ID]; method == "get" && !strings.Contains(path, "{") && !left {
				reads = append(reads, one)
			}
		}
	}
	slices.SortFunc(reads, func(a, b operation) int {
		return cmp.Or(strings.Compare(a.tag, b.tag), strings.Compare(a.id, b.id))
	})
	reads = slices.CompactFunc(reads, func(a, b operation) bool { return a.tag == b.tag })
	return append(bodies, reads...)
}

// execute is a function of the page that opens an operation, executes its example and returns the status.
const execute = `(async (tag, id) => {
	const found = async look => {
		for (let n = 0; n < 3000; n++) {
			const it = look();
			if (it) return it;
			await new Promise(done => setTimeout(done, 20));
		}
		throw new Error('not found: ' + look);
	};
	const escaped = part => CSS.escape(part.replace(/\s/g, '_')); // the page escapes the parts of its ids so
	const block = () => document.getElementById('operations-' + escaped(tag) + '-' + escaped(id));
	if (!block()) document.getElementById('operations-tag-' + escaped(tag)).click();
	(await found(block)).querySelector('.opblock-summary-control').click();
	const answered = () => block().querySelector('.live-responses-table .response-col_status:not(.col_header)');
	let last = 0; // A click is lost until the page has resolved the operation's references.
	await found(() => {
		const execute = block().querySelector('.btn.execute');
		if (execute && !block().querySelector('.opblock-loading-animation') && Date.now() - last > 5000) {
			last = Date.now();
			execute.click();
		}
		return answered();
	});
	const status = await found(() => answered()?.textContent.trim());
	const text = block().querySelector('.live-responses-table .highlight-code')?.textContent ?? '';
	block().querySelector('.btn-clear')?.click(); // The page renders all answers anew with each further one.
	block().querySelector('.opblock-summary-control').click();
	return status.startsWith('2') ? 'ok' : status + ' ' + text;
})`

// authorize enters a token in the page's dialog, as a reader does.
func (b *browser) authorize(tab context.Context, token string) {
	b.Helper()
	if err := chromedp.Do(tab,
		chromedp.Click(chromedp.CSS(".btn.authorize")),
		chromedp.SendKeys(chromedp.CSS(".modal-ux input"), token),
		chromedp.Click(chromedp.CSS(".modal-ux .btn.authorize")),
		chromedp.Click(chromedp.CSS(".modal-ux .btn-done")),
	); err != nil {
		b.Fatal(err)
	}
}

// The reference's "Execute" sends the examples of the document as they stand, with the token of its dialog.
func TestTheReferenceExecutesItsExamples(t *testing.T) {
	byHand(t)
	b := newBrowser(t)
	s := serveConsole(t)
	token := s.asOwner(t).token
	all := s.operations(t)
	ctx, cancel := context.WithTimeout(b.tab, 10*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(s.api+"/docs"),
		chromedp.WaitReady(chromedp.CSS(".swagger-ui .opblock-tag"))); err != nil {
		t.Fatal(err)
	}
	one := func(o operation) string {
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](
			execute+"("+strconv.Quote(o.tag)+", "+strconv.Quote(o.id)+")", chromedp.EvalAwaitPromise))
		if err != nil {
			return err.Error()
		}
		return got
	}
	if got := one(operation{"me.get", "Sign in"}); !strings.HasPrefix(got, "401") {
		t.Errorf("me.get without a token: %s, want 401", got)
	}
	b.authorize(ctx, token)
	for _, o := range all {
		if got := one(o); got != "ok" {
			t.Errorf("%s: %s", o.id, got)
		}
	}
	t.Logf("%d operations", len(all))
}
