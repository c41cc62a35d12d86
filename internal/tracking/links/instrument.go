package links

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// maxLinks is how many different links of a mail are tracked. Further ones lead to their targets directly.
const maxLinks = 500

// Mail is an HTML mail that is about to be stored.
type Mail struct {
	Org, Email    id.ID
	Key           orgkey.Key // of the org
	Base          string     // of our addresses, without a slash at the end
	HTML          string
	Opens, Clicks bool // what to track
}

// Instrument returns the mail with its links replaced and a pixel added, and the targets of the links, of which the
// first has the number 1. Equal links share a number. Links that are not http or https, and our own to pages such as
// that for unsubscribing, are left as they are.
func (m *Mail) Instrument() (document string, targets []string) {
	var b strings.Builder
	t := html.NewTokenizer(strings.NewReader(m.HTML))
	numbers := map[string]int{}
	tail := m.mailTail
	for {
		kind := t.Next()
		if kind == html.ErrorToken { // the end: a tokenizer of a string has no other error
			break
		}
		raw := string(t.Raw()) // before Token, which overwrites it
		if name := t.Token(); m.Clicks && kind == html.StartTagToken && name.DataAtom == atom.A {
			if n := m.linkNumber(&name, numbers, &targets); n > 0 {
				raw = replaceHref(&name, m.trackedURL(ClickPath, n))
			}
		} else if kind == html.EndTagToken && name.DataAtom == atom.Body {
			b.WriteString(tail(len(targets) > 0))
			tail = func(bool) string { return "" }
		}
		b.WriteString(raw)
	}

	b.WriteString(tail(len(targets) > 0)) // a mail without a body's end
	return b.String(), targets
}

// linkNumber returns the number of the link that the tag has, or 0 if it is not tracked.
func (m *Mail) linkNumber(tag *html.Token, numbers map[string]int, targets *[]string) int {
	for _, a := range tag.Attr {
		if a.Key != "href" || a.Namespace != "" {
			continue
		}
		target := strings.TrimSpace(a.Val)
		u, err := url.Parse(target)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
			strings.HasPrefix(target, m.Base+"/t/") {
			return 0
		}
		n := numbers[target]
		if n == 0 && len(*targets) < maxLinks {
			*targets = append(*targets, target)
			n = len(*targets)
			numbers[target] = n
		}
		return n
	}

	return 0
}

func (m *Mail) trackedURL(path string, link int) string {
	return m.Base + path + Ref{m.Org, m.Email, int16(link)}.Token(m.Key)
}

// mailTail returns what stands at the end of the mail: the pixel, and the link that people do not see.
func (m *Mail) mailTail(links bool) string {
	var b strings.Builder
	if links {
		b.WriteString(`<a href="` + m.trackedURL(ClickPath, Trap) +
			`" style="display:none" tabindex="-1" aria-hidden="true"></a>`)
	}
	if m.Opens {
		b.WriteString(`<img src="` + m.trackedURL(OpenPath, Pixel) + `" alt="" width="1" height="1" border="0">`)
	}
	return b.String()
}

// replaceHref returns the tag with another href.
func replaceHref(tag *html.Token, href string) string {
	for i := range tag.Attr {
		if tag.Attr[i].Key == "href" {
			tag.Attr[i].Val = href
		}
	}
	return tag.String()
}

// Store queues the rows of an email's links.
func Store(tx *postgres.Tx, email id.ID, targets []string) {
	if len(targets) > 0 {
		tx.Queue(`INSERT INTO email_link (org_id, email_id, n, url)
			SELECT $1, $2, n, url FROM unnest($3::text[]) WITH ORDINALITY AS l (url, n)`, tx.Org(), email, targets)
	}
}
