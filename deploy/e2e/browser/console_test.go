package browser

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// matrix opens each screen in each role, width and theme. Without it the owner opens each screen in both themes, and
// one of the other roles opens it once; its second theme is held to the rules of axe on which a look has a bearing.
var matrix = flag.Bool("matrix", false, "every screen in every role, width and theme")

// axe is axe-core 4.14.1, which finds faults of accessibility. Its licence, MPL-2.0, is beside it.
//
//go:embed testdata/axe.min.js
var axe string

// screen is a page of the console.
type screen struct {
	path  string // below the API's address
	ready string // selector of an element that it has when its content is there
}

// screens are the pages that are opened in each role.
var screens = []screen{
	{"/app/home", "#main h1"},
	{"/app/contacts", "#main h1"},
	{"/app/companies", "#main h1"},
	{"/app/deals", "#main h1"},
	{"/app/tasks", "#main h1"},
	{"/app/inbox?show=all", "#main :is(h1, h2)"},
	{"/app/sequences", "#main h1"},
	{"/app/broadcasts", "#main h1"},
	{"/app/templates", "#main h1"},
	{"/app/segments", "#main h1"},
	{"/app/segments/new", "#main h1"},
	{"/app/imports", "#main h1"},
	{"/app/imports?show=exports", "#main h1"},
	{"/app/imports/new", "#main h1"},
	{"/app/duplicates", "#main h1"},
	{"/app/duplicates?show=merged", "#main h1"},
	{"/app/accounts", "#main :is(h1, h2)"},
	{"/app/clients", "#main h1"},
	{"/app/ai", "#main section h2"},
	{"/app/settings/profile", "#main form"},
	{"/app/settings/org", "#main h1"},
	{"/app/settings/members", "#main h1"},
	{"/app/settings/billing", "#main h1"},
	{"/app/settings/mailboxes", "#main h1"},
	{"/app/settings/mailboxes/new", "#main :is(h1, h2)"},
	{"/app/settings/sending", "#main h1"},
	{"/app/settings/suppressions", "#main h1"},
	{"/app/settings/unknown", "#main h1"},
	{"/app/settings/audit", "#main h1"},
	{"/app/settings/fields", "#main h1"},
	{"/app/settings/pipelines", "#main h1"},
	{"/app/settings/tags", "#main h1"},
	{"/app/settings/brand", "#main h1"},
	{"/app/settings/domain", "#main h1"},
	{"/app/settings/payouts", "#main h1"},
	{"/app/settings/jobs", "#main h1"},
	{"/app/settings/integrations/webhooks", "#main h1"},
	{"/app/settings/integrations/webhooks/new", "#main :is(h1, h2)"},
	{"/app/settings/integrations/deliveries", "#main h1"},
	{"/app/settings/integrations/events", "#main h1"},
	{"/app/settings/integrations/keys", "#main :is(h1, h2)"},
	{"/app/settings/integrations/requests", "#main h1"},
	{"/app/_kit", "main h2"},
	{"/app/settings/nowhere", "#main h1"},
}

// signedOut are the pages that need no session.
var signedOut = []screen{
	{"/login", "form input[type=password]"},
	{"/forgot-password", "form"},
	{"/reset-password?token=none", "form"},
	{"/accept-invite?token=none", "form"},
}

var (
	roles  = []string{"viewer", "member", "admin", "owner"}
	widths = []int64{1280, 390}
	themes = []string{"light", "dark"}
)

// look is a width and a theme.
type look struct {
	width int64
	theme string
}

func (l look) String() string { return strconv.FormatInt(l.width, 10) + " " + l.theme }

// looks returns those that a screen is opened in: all in the matrix, else the nth of the four, and for axe both themes.
func looks(n int, both bool) []look {
	var all []look
	for _, width := range widths {
		for _, theme := range themes {
			all = append(all, look{width, theme})
		}
	}
	if *matrix {
		return all
	}
	if both {
		return []look{{widths[n%len(widths)], themes[0]}, {widths[(n+1)%len(widths)], themes[1]}}
	}
	return all[n%len(all):][:1]
}

const (
	consolePassword = "browser-tests-1"
	consoleOwner    = "owner@example.com"
)

// email returns the address of the person with a role.
func email(role string) string { return role + "@example.com" }

// people creates a person of each role in the org of up. The owner exists.
func (s *server) people(t *testing.T) {
	t.Helper()
	org := s.org(t)
	for _, role := range roles[:3] {
		s.command(t, "user", "create", "--email", email(role), "--password", consolePassword, "--org-id", org, "--role",
			role)
	}
}

// org returns the id of the owner's org.
func (s *server) org(t *testing.T) string {
	t.Helper()
	body := fmt.Sprintf(`{"email":%q,"password":%q}`, consoleOwner, consolePassword)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.api+"/api/v1/auth/login",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var got struct {
		Org struct {
			ID string `json:"id"`
		} `json:"org"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil || got.Org.ID == "" {
		t.Fatalf("login: %s, %v", answer.Status, err)
	}
	return got.Org.ID
}

// command runs the binary beside the running up.
func (s *server) command(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.binary, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("%s: %v: %s%s", strings.Join(args, " "), err, out, stderr.String())
	}
}

// until waits until a JavaScript expression is true.
func until(expression string) chromedp.Action[chromedp.Void] {
	script := "new Promise(done => { const see = () => (" + expression +
		") ? done(true) : setTimeout(see, 20); see(); })"
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script, chromedp.EvalAwaitPromise))
		return err
	})
}

// signIn signs a person in by the form, with the keyboard alone, and leaves the tab at the console.
func (b *browser) signIn(tab context.Context, api, role string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx,
		chromedp.Navigate(api+"/login"),
		until(`document.activeElement?.matches('input[type=email]')`),
		chromedp.KeyEvent(email(role)), chromedp.KeyEvent("\t"), chromedp.KeyEvent(consolePassword),
		chromedp.KeyEvent("\r"),
		until(`location.pathname.startsWith('/app') && document.querySelector('#main') !== null`),
	); err != nil {
		b.Fatalf("sign in as %s: %v", role, err)
	}
}

// session returns a tab with its own cookies.
func (b *browser) session() context.Context {
	b.Helper()
	tab, closeTab := chromedp.NewContext(b.tab, chromedp.WithNewBrowserContext())
	b.Cleanup(closeTab)
	if err := errors.Join(chromedp.Do(tab, chromedp.Navigate("about:blank"))); err != nil {
		b.Fatal(err)
	}
	return tab
}

// beside returns a tab with the cookies of another one, in a window of its own, so that both are visible.
func (b *browser) beside(tab context.Context) context.Context {
	b.Helper()
	other, closeOther := chromedp.NewContext(tab, chromedp.WithNewWindow(true))
	b.Cleanup(closeOther)
	if err := chromedp.Do(other, chromedp.Navigate("about:blank")); err != nil {
		b.Fatal(err)
	}
	for _, one := range []context.Context{tab, other} {
		if _, err := chromedp.Call(one, emulation.SetFocusEmulationEnabled,
			emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
			b.Fatal(err)
		}
	}
	return other
}

// show gives the tab a width and a theme.
func show(tab context.Context, l look) error {
	_, err := chromedp.Call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: l.theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
	return errors.Join(err, chromedp.Do(tab, chromedp.EmulateViewport(l.width, 800)))
}

// wider reports by how much the page is wider than the window.
const wider = `document.documentElement.scrollWidth - document.documentElement.clientWidth`

// Rules of axe: those of WCAG 2.2, A and AA, and those of them on which the width and the theme have a bearing.
const (
	allRules  = `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']`
	lookRules = `{type: 'rule', values: ['color-contrast', 'target-size', 'scrollable-region-focusable']}`
)

// audit returns the faults that axe finds in the tab's page.
func audit(tab context.Context, rules string) ([]string, error) {
	ctx, cancel := context.WithTimeout(tab, patience)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](axe+";true")); err != nil {
		return nil, err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[[]string](`axe.run(document, {runOnly: `+rules+`}).then(
		r => r.violations.flatMap(v => v.nodes.map(
		n => v.id + ': ' + n.target.join(' ') + ': ' + n.failureSummary)))`, chromedp.EvalAwaitPromise))
}

// open opens a screen in the tab and returns what is wrong with it, by the given rules of axe or, if they are "", none.
func (b *browser) open(tab context.Context, at string, s screen, l look, rules string) []string {
	b.Helper()
	if err := show(tab, l); err != nil {
		b.Fatal(err)
	}
	wrong := b.visitIn(tab, at+s.path, s.ready)
	if over, err := chromedp.Run(tab, chromedp.Evaluate[int](wider)); err != nil || over > 0 {
		wrong = append(wrong, fmt.Sprintf("is wider than its window by %d, %v", over, err))
	}
	if rules == "" {
		return wrong
	}
	faults, err := audit(tab, rules)
	if err != nil {
		b.Fatal(err)
	}
	return append(wrong, faults...)
}

func TestEveryScreenOpensInEveryRoleWithoutAFault(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	// It opens more pages in a minute than people do.
	s := startWith(t, []string{"FUNNELWORK_RATE_LIMIT=off"}, seeded()...)
	s.people(t)
	all := append(slices.Clone(screens), s.records(t)...)
	out := b.session()
	for n, one := range signedOut {
		for i, l := range looks(n, true) {
			for _, wrong := range b.open(out, s.api, one, l, rulesOf(i)) {
				t.Errorf("%s, %s: %s", one.path, l, wrong)
			}
		}
	}
	// The owner has three tabs, since one waits for its page more than it works.
	for r, name := range []string{"owner 1", "owner 2", "owner 3", "viewer", "member", "admin"} {
		role, _, isOwner := strings.Cut(name, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &browser{t, b.tab}
			tab := b.session()
			b.signIn(tab, s.api, role)
			for n, one := range all {
				if n%3 != r%3 && (isOwner || !*matrix) {
					continue
				}
				for i, l := range looks(n+r, isOwner) {
					rules := ""
					if isOwner {
						rules = rulesOf(i)
					}
					for _, wrong := range b.open(tab, s.api, one, l, rules) {
						t.Errorf("%s, %s: %s", one.path, l, wrong)
					}
				}
			}
		})
	}
}

// rulesOf returns the rules of axe for the nth look at a screen: the first one is held to all, the others to those that
// may come out differently.
func rulesOf(n int) string {
	if n == 0 || *matrix {
		return allRules
	}
	return lookRules
}

// seeded are the flags for an owner of a known password.
func seeded() []string {
	return []string{"--seed-email", consoleOwner, "--seed-password", consolePassword}
}

// serveConsole is serve with an owner of a known password.
func serveConsole(t *testing.T) *server {
	t.Helper()
	return start(t, seeded()...)
}
