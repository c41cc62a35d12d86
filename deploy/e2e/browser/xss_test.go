package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// payloads are texts that run as a script where a page takes a text for markup, an address or code. Each sets the
// global variable xss or opens a dialog.
var payloads = []string{
	`<script>window.xss=1</script>`,
	`<img src=x onerror="window.xss=1">`,
	`"><svg/onload=window.xss=1>`,
	`'><input autofocus onfocus=window.xss=1>`,
	`</title></textarea></style><script>window.xss=1</script>`,
	`javascript:window.xss=1//`,
	`<iframe srcdoc="<script>parent.xss=1</script>">`,
	`<a href="javascript:window.xss=1">link</a>`,
	`{{constructor.constructor('window.xss=1')()}}`,
	"${alert(1)}`;window.xss=1;//",
	`<math><mtext></form><form><mglyph><style></math><img src onerror=window.xss=1>`,
	`<details open ontoggle=window.xss=1>`,
	`&lt;img src=x onerror=window.xss=1&gt;`,
	`\u003cimg src=x onerror=window.xss=1\u003e`,
	`data:text/html,<script>alert(1)</script>`,
	"\u202e<svg onload=window.xss=1>\u2066",
}

// ran is an expression that is true if a payload ran, or would run at a click.
const ran = `'xss' in window || [...document.querySelectorAll('[href], [src], [action], [formaction]')].some(e =>
	['href', 'src', 'action', 'formaction'].some(name =>
		/^\s*(javascript|data:text\/html)/i.test(e.getAttribute(name) ?? '')))`

// executions opens a page and returns what is wrong with it, a payload that ran included.
func (b *browser) executions(tab context.Context, at, selector string) []string {
	b.Helper()
	var dialogs atomic.Int64
	heard, stop := context.WithCancel(tab)
	defer stop()
	if err := chromedp.Listen(heard, func(event any) {
		if _, ok := event.(*page.EventJavascriptDialogOpening); ok {
			dialogs.Add(1)
			go func() {
				_, _ = chromedp.Call(tab, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
			}()
		}
	}); err != nil {
		b.Fatal(err)
	}
	wrong := b.visitIn(tab, at, selector)
	got, err := chromedp.Run(tab, chromedp.Evaluate[bool](
		`new Promise(done => requestAnimationFrame(() => setTimeout(() => done(`+ran+`))))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatal(err)
	}
	if got || dialogs.Load() > 0 {
		wrong = append(wrong, fmt.Sprintf("a payload ran, or would at a click; %d dialogs", dialogs.Load()))
	}
	return wrong
}

// infected creates records whose every text is a payload, and returns the pages that show them, with the text that is
// seen there.
func infected(t *testing.T, c *client) map[string]string {
	t.Helper()
	seen := map[string]string{}
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Answer", `<img src=x onerror=window.xss=1>`)
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(strings.Join(payloads, "\n")))
	}))
	t.Cleanup(hostile.Close)
	for i, text := range payloads {
		company := c.id("/api/v1/crm/companies", map[string]any{"name": text, "industry": text, "size": "1-10"})
		contact := c.id("/api/v1/crm/contacts", map[string]any{
			"email": "xss" + strconv.Itoa(i) + "@example.com", "first_name": text, "last_name": text,
			"job_title": text, "source": text, "company_id": company, "attributes": map[string]any{"evil": text},
		})
		if status, answer := c.try(http.MethodPatch, "/api/v1/crm/contacts/"+contact,
			map[string]any{"tag": []string{strings.ReplaceAll(text, ",", "")}}); status >= 500 {
			t.Errorf("tag %q: %d %s", text, status, answer)
		}
		c.id("/api/v1/crm/notes", map[string]any{"contact_id": contact, "body": text})
		c.id("/api/v1/crm/tasks", map[string]any{"title": text, "description": text, "contact_id": contact})
		deal := c.id("/api/v1/crm/deals", map[string]any{
			"name": text, "amount": 100, "currency": "USD", "contact_id": contact, "company_id": company,
		})
		c.id("/api/v1/api-keys", map[string]any{"name": text, "role": "viewer"})
		c.into(nil, http.MethodPut, "/api/v1/views/note"+strconv.Itoa(i), map[string]any{"name": text})
		for _, website := range []string{text, "https://example.com/?q=" + text} { // refused where it is no address
			_, _ = c.try(http.MethodPatch, "/api/v1/crm/companies/"+company, map[string]any{"website": website})
		}
		seen["/app/contacts/"+contact], seen["/app/companies/"+company], seen["/app/deals/"+deal] = text, text, text
		seen["/app/contacts/"+contact+"/score"] = ""
		if i == 0 { // its receiver answers with all payloads
			hook := c.id("/api/v1/webhooks", map[string]any{
				"url": hostile.URL + "/?q=%3Cscript%3E", "events": []string{"company.created"}, "description": text,
			})
			c.id("/api/v1/crm/companies", map[string]any{"name": text})
			at := settings + "/integrations/webhooks/" + hook
			seen[at], seen[at+"/settings"] = "", text
			seen[at+"/deliveries/"+c.refusedDelivery(hook)] = text
		}
	}
	c.into(nil, http.MethodPatch, "/api/v1/org", map[string]any{"name": payloads[1]})
	c.into(nil, http.MethodPatch, "/api/v1/auth/me",
		map[string]any{"first_name": payloads[0], "last_name": payloads[2]})
	return seen
}

func TestNoTextOfARecordRunsAsAScript(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	s := serveConsole(t)
	c := s.asOwner(t)
	tab := b.session()
	b.signIn(tab, s.api, "owner")
	pages := infected(t, c)
	for _, one := range screens {
		pages[one.path] = ""
	}
	for path, text := range pages {
		for _, wrong := range b.executions(tab, s.api+path, "#main, main") {
			t.Errorf("%s: %s", path, wrong)
		}
		if text == "" {
			continue
		}
		h := &hand{T: t, tab: tab}
		h.wait(`document.body.innerText.includes(` + strconv.Quote(text) + `) ||
			[...document.querySelectorAll('input')].some(e => e.value.includes(` + strconv.Quote(text) + `))`)
	}
	t.Logf("%d payloads, %d pages", len(payloads), len(pages))
}

// The test above can fail: pages that take a payload for markup.
func TestAPayloadThatRunsIsSeen(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	for name, body := range map[string]string{
		"a script": payloads[0], "a handler": payloads[1], "a link": payloads[7],
		"a dialog": `<script>alert(1)</script>`,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<!doctype html><link rel=icon href=data:,><body><main>" + body))
		}))
		t.Cleanup(s.Close)
		found := strings.Join(b.executions(b.session(), s.URL+"/", "main"), "\n")
		if !strings.Contains(found, "a payload ran") {
			t.Errorf("%s: found %q", name, found)
		}
	}
}
