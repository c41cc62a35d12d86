package browser

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "a directory to write the README's screenshots to")

// The README's pictures show an org that the command demo filled:
//
//	go test -C deploy/e2e/browser -run TestScreenshots . -screenshots ../../screenshots
func TestScreenshotsOfAFilledOrg(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots is not set")
	}
	b := newBrowser(t)
	s := serveConsole(t)
	s.command(t, "demo")
	tab := b.session()
	if err := show(tab, look{1280, "light"}); err != nil {
		t.Fatal(err)
	}
	b.signIn(tab, s.api, "owner")
	cards := `document.querySelectorAll('#main article, #main [role=listitem], #main li').length > 10`
	const first = `document.querySelector('#main tbody tr td a')`
	const active = `[...document.querySelectorAll('#main tbody tr')].find(row => row.innerText.includes('Active'))` +
		`?.querySelector('td a')`
	const named = `!/…[0-9a-f]{8}/.test(document.querySelector('#main').innerText)` // names are read after the ids
	for name, at := range map[string]struct{ path, ready, then string }{
		"home":     {"/app/home", `document.querySelector('#main svg, #main canvas')`, ""},
		"contacts": {"/app/contacts", `document.querySelectorAll('#main tbody tr').length > 10`, ""},
		"deals":    {"/app/deals", cards, ""},
		"sequence": {"/app/sequences", active, `document.querySelectorAll('#main ol section').length > 0`},
		"inbox":    {"/app/inbox", first, `document.querySelectorAll('#main article').length > 1 && ` + named},
	} {
		ctx, cancel := context.WithTimeout(tab, patience)
		t.Cleanup(cancel)
		// Fonts and the first data are there, and no row or chart is still being drawn.
		drawn := `document.fonts.status === 'loaded' && document.querySelector('[aria-busy=true]') === null`
		if err := chromedp.Do(ctx, chromedp.Navigate(s.api+at.path), until(at.ready), until(drawn)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if at.then != "" { // ready is the link to one of the list
			to, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(`+at.ready+`).href`))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := chromedp.Do(ctx, chromedp.Navigate(to), until(at.then), until(drawn)); err != nil {
				shown, _ := chromedp.Run(tab, chromedp.Evaluate[string](`document.querySelector('#main').innerHTML`))
				t.Fatalf("%s, %s: %v; the page shows %s", name, to, err, shown)
			}
		}
		picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), picture, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
