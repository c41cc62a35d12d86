package links

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// WithoutPixel returns a tracked mail as its senders see it: without the pixel and without the link that people do not
// see, so that reading it here is no open.
func WithoutPixel(document string) string {
	if !strings.Contains(document, OpenPath) && !strings.Contains(document, ClickPath) {
		return document
	}
	var b strings.Builder
	t := html.NewTokenizer(strings.NewReader(document))
	skipEnd := false
	for {
		kind := t.Next()
		if kind == html.ErrorToken { // the end: a tokenizer of a string has no other error
			return b.String()
		}
		raw := string(t.Raw()) // before Token, which overwrites it
		switch tag := t.Token(); {
		case kind == html.EndTagToken && tag.DataAtom == atom.A && skipEnd:
			skipEnd = false
			continue
		case kind != html.StartTagToken && kind != html.SelfClosingTagToken:
		case tag.DataAtom == atom.Img && numberOf(&tag, "src", OpenPath) == Pixel:
			continue
		case tag.DataAtom == atom.A && numberOf(&tag, "href", ClickPath) == Trap:
			skipEnd = true
			continue
		}
		b.WriteString(raw)
	}
}

// noNumber is the number of an address that is none of a tracked mail's.
const noNumber = -2

// numberOf returns the number of the address that a tag has in an attribute.
func numberOf(tag *html.Token, attribute, path string) int16 {
	for _, a := range tag.Attr {
		if a.Key != attribute {
			continue
		}
		if _, token, found := strings.Cut(a.Val, path); found {
			token, _, _ = strings.Cut(token, "?")
			if ref, ok := Parse(token); ok {
				return ref.Link
			}
		}
	}
	return noNumber
}
