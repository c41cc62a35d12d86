package links_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/tracking/links"
)

const base = "https://app.example"

// newKey returns an org and its key.
func newKey(t *testing.T) (id.ID, orgkey.Key) {
	t.Helper()
	db, box, org := testkit.DB(t), testkit.Box(t), id.New()
	var key orgkey.Key
	if err := db.System.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, org)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		pair, err := orgkey.Of(t.Context(), tx, box)
		key = pair.Org
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return org, key
}

// hrefs returns the targets of the links of a document.
func hrefs(document string) (out []string) {
	root, err := html.Parse(strings.NewReader(document))
	if err != nil {
		return nil
	}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if n.Data == "a" && a.Key == "href" || n.Data == "img" && a.Key == "src" {
				out = append(out, a.Val)
			}
		}
	}
	return out
}

func TestLinksArePutAwayAndOthersStay(t *testing.T) {
	t.Parallel()
	org, key := newKey(t)
	const text = `<p>A &amp; b<br><a class="x" href="https://shop.example/?a=1&amp;b=2">one</a> ` +
		`<a href="HTTP://shop.example/two">two</a> <a href="https://shop.example/?a=1&amp;b=2">one again</a> ` +
		`<a href="mailto:ada@example.com">mail</a> <a href="#top">top</a> <a href="/relative">r</a> ` +
		`<a href="https://app.example/t/u/token">out</a> <a href="javascript:alert(1)">no</a> <a>bare</a></p>`
	m := links.Mail{
		Org: org, Email: id.New(), Key: key, Base: base, Opens: true, Clicks: true,
		HTML: "<html><body>" + text + "</body></html>",
	}
	document, targets := m.Instrument()
	if want := []string{"https://shop.example/?a=1&b=2", "HTTP://shop.example/two"}; !slices.Equal(targets, want) {
		t.Errorf("targets %q, want %q", targets, want)
	}
	found := hrefs(document)
	if len(found) != 10 {
		t.Fatalf("%d addresses in %s", len(found), document)
	}
	kept := []string{
		"mailto:ada@example.com", "#top", "/relative", "https://app.example/t/u/token", "javascript:alert(1)",
	}
	if !slices.Equal(found[3:8], kept) {
		t.Errorf("other links became %q", found[3:8])
	}
	if found[0] != found[2] || found[0] == found[1] {
		t.Errorf("equal links have equal addresses, others not: %q", found[:3])
	}
	for i, want := range map[int]int16{0: 1, 1: 2, 8: links.Trap, 9: links.Pixel} {
		path, token := base+links.ClickPath, ""
		if i == 9 {
			path = base + links.OpenPath
		}
		token, ok := strings.CutPrefix(found[i], path)
		ref, parsed := links.Parse(token)
		if !ok || !parsed || ref != (links.Ref{Org: org, Email: m.Email, Link: want}) || !ref.Issued(key, token) {
			t.Errorf("address %d is %s: %+v", i, found[i], ref)
		}
	}
	bare := regexp.MustCompile(`<a [^>]*></a>|<img[^>]*>| href="[^"]*"`)
	if got, want := bare.ReplaceAllString(document, ""), bare.ReplaceAllString(m.HTML, ""); got != want {
		t.Errorf("the rest changed:\n%s\n%s", got, want)
	}
}

func TestOnlyWhatIsWantedIsTracked(t *testing.T) {
	t.Parallel()
	org, key := newKey(t)
	const text = `<p><a href="https://shop.example/">shop</a></p>`
	m := links.Mail{Org: org, Email: id.New(), Key: key, Base: base, HTML: text, Opens: true}
	document, targets := m.Instrument()
	if !strings.HasPrefix(document, text+"<img ") || targets != nil {
		t.Errorf("opens alone: %s %q", document, targets)
	}
	m.Opens, m.Clicks = false, true
	if document, targets = m.Instrument(); strings.Contains(document, "<img") || len(targets) != 1 {
		t.Errorf("clicks alone: %s %q", document, targets)
	}
	m.HTML = "<p>No link.</p>"
	if document, targets = m.Instrument(); document != m.HTML || targets != nil {
		t.Errorf("a mail without links: %s %q", document, targets)
	}
}

func TestATokenOfAnotherOrgOrAnotherLinkIsNotIssued(t *testing.T) {
	t.Parallel()
	org, key := newKey(t)
	other, foreign := newKey(t)
	ref := links.Ref{Org: org, Email: id.New(), Link: 1}
	token := ref.Token(key)
	if !ref.Issued(key, token) {
		t.Fatal("its own token")
	}
	for name, r := range map[string]links.Ref{
		"another link":  {Org: org, Email: ref.Email, Link: 2},
		"another email": {Org: org, Email: id.New(), Link: 1},
		"another org":   {Org: other, Email: ref.Email, Link: 1},
	} {
		if r.Issued(key, token) || r.Issued(foreign, token) {
			t.Error(name)
		}
	}
	for _, bad := range []string{"", "x", token[1:], token + "A", strings.Repeat("!", len(token))} {
		if r, ok := links.Parse(bad); ok && r.Issued(key, bad) {
			t.Errorf("%q is taken", bad)
		}
	}
}
