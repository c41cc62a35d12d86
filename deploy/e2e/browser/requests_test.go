package browser

import (
	"context"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var requestPictures = flag.String("requestpictures", "", "a directory to write pictures of the request log to")

const requestsPath = settings + "/integrations/requests"

// tablet is between the widths of the other tests.
const tablet = 768

func TestARequestThatFailedIsFoundWithTheValueThatWasWrong(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	s := serveConsole(t)
	owner := s.asOwner(t)
	contact := map[string]any{"email": "grace@acme.example", "first_name": "Grace", "last_name": "Hopper"}
	owner.id("/api/v1/crm/contacts", contact)
	contact["email"] = "grace.hopper@"
	contact["attributes"] = map[string]any{"size": "large"}
	owner.try(http.MethodPost, "/api/v1/crm/contacts", contact)
	owner.try(http.MethodGet, "/api/v1/crm/contacts/018f5a7e-0000-7000-8000-000000000000", nil)
	tab := b.session()
	if err := show(tab, look{1280, "light"}); err != nil {
		t.Fatal(err)
	}
	b.signIn(tab, s.api, "owner")
	for _, width := range []int64{1280, tablet, 390} {
		if err := show(tab, look{width, "light"}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(tab, patience)
		t.Cleanup(cancel)
		const rows = `document.querySelectorAll('#main tbody tr td').length > 0`
		const failed = `[...document.querySelectorAll('#main tbody tr')].filter(row => row.innerText.includes('422'))`
		const panel = `document.querySelector('[role=dialog], aside')?.innerText ?? document.body.innerText`
		if err := chromedp.Do(ctx, chromedp.Navigate(s.api+requestsPath), until(rows)); err != nil {
			t.Fatalf("%d: the list: %v", width, err)
		}
		takePicture(ctx, t, width, "list")
		if err := chromedp.Do(ctx, chromedp.Navigate(s.api+requestsPath+"?status=422"),
			until(failed+`.length === 1 && document.querySelectorAll('#main tbody tr').length === 1`)); err != nil {
			t.Fatalf("%d: the filter: %v", width, err)
		}
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](failed+`[0].click()`)); err != nil {
			t.Fatal(err)
		}
		shown := `(text => text.includes('grace.hopper@') && text.includes('[redacted]') && text.includes('#/email') &&
			!text.includes('large'))(` + panel + `)`
		if err := chromedp.Do(ctx, until(shown)); err != nil {
			t.Fatalf("%d: the request: %v", width, err)
		}
		takePicture(ctx, t, width, "request")
	}
}

// takePicture writes a picture of the tab if a directory is given.
func takePicture(tab context.Context, t *testing.T, width int64, name string) {
	t.Helper()
	if *requestPictures == "" {
		return
	}
	picture, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(*requestPictures, name+"-"+look{width, "light"}.String()+".png")
	if err := os.WriteFile(file, picture, 0o600); err != nil {
		t.Fatal(err)
	}
}
