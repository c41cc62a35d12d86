package outbox

import (
	"bytes"
	"fmt"
	"mime"
	"net/mail"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// listed is a mail in the list.
type listed struct {
	kept
	Subject string `json:"subject"`
}

// readSubjects opens the mails for their subjects.
func (p *Page) readSubjects(all []kept) ([]listed, error) {
	rows := make([]listed, len(all))
	for i, k := range all {
		raw, err := p.box.Open(k.sealed, sealContext(k.Org, k.ID))
		if err != nil {
			return nil, fmt.Errorf("open sandbox mail: %w", err)
		}
		rows[i] = listed{k, subjectOf(raw)}
	}
	return rows, nil
}

// subjectOf returns the decoded subject of a mail, or "" if the mail has none or cannot be read.
func subjectOf(raw []byte) string {
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return ""
	}

	text := message.Header.Get("Subject")
	if decoded, err := (&mime.WordDecoder{}).DecodeHeader(text); err == nil {
		text = decoded
	}

	return text
}

// linksOf returns the addresses that the HTML part of a mail links to, each once, in their order.
func linksOf(page string) (links []string) {
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return links
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}

		for _, attribute := range z.Token().Attr {
			if attribute.Key == "href" && attribute.Val != "" && !slices.Contains(links, attribute.Val) {
				links = append(links, attribute.Val)
			}
		}
	}
}
