package parse

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxTokens bounds the tokens of an HTML part that are read.
const maxTokens = 200_000

// TextOf returns the text of an HTML part: blocks on lines of their own, and quoted mails with a > before each line.
func TextOf(source string) string {
	z := html.NewTokenizer(strings.NewReader(source))
	z.SetMaxBuf(maxText)
	w := textWriter{}
	for range maxTokens {
		switch z.Next() {
		case html.ErrorToken:
			w.endLine(false) // no element ends the last line
			return strings.TrimSpace(w.String())
		case html.TextToken:
			w.writeText(string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			w.openElement(&t)
		case html.EndTagToken:
			t := z.Token()
			w.closeElement(&t)
		default: // comments and doctypes
		}
	}

	return strings.TrimSpace(w.String())
}

// textWriter collects text.
type textWriter struct {
	strings.Builder
	hidden int // depth of elements without text
	quoted int // depth of quotations
	line   strings.Builder
}

func (w *textWriter) writeText(s string) {
	if w.hidden > 0 {
		return
	}
	s = strings.Map(func(r rune) rune {
		if r == '\u00a0' {
			return ' '
		}
		return r
	}, html.UnescapeString(s))
	for i, part := range strings.Fields(s) {
		if w.line.Len() > 0 && (i > 0 || s[0] == ' ' || s[0] == '\n' || s[0] == '\t' || s[0] == '\r') {
			w.line.WriteByte(' ')
		}
		w.line.WriteString(part)
	}
	if n := len(s); n > 0 && strings.ContainsRune(" \n\r\t", rune(s[n-1])) && w.line.Len() > 0 {
		w.line.WriteByte(' ')
	}
}

// endLine ends a line. An empty one is written once.
func (w *textWriter) endLine(empty bool) {
	s := strings.Join(strings.Fields(w.line.String()), " ")
	w.line.Reset()
	if s == "" && !empty || w.Len() > 2*maxText {
		return
	}
	w.WriteString(strings.Repeat("> ", min(w.quoted, 5)) + s + "\n")
}

func (w *textWriter) openElement(t *html.Token) {
	switch t.DataAtom {
	case atom.Script, atom.Style, atom.Head, atom.Title, atom.Template:
		if t.Type == html.StartTagToken {
			w.hidden++
		}
	case atom.Br:
		w.endLine(true)
	case atom.Blockquote:
		w.endLine(false)
		if t.Type == html.StartTagToken {
			w.quoted++
		}
	case atom.P, atom.Div, atom.Tr, atom.Li, atom.Table, atom.Ul, atom.Ol, atom.H1, atom.H2, atom.H3, atom.H4, atom.Hr,
		atom.Pre, atom.Body:
		w.endLine(false)
		if isQuote(t) {
			w.WriteString(outlookRule + "\n")
		}
	default: // stands in its line
	}
}

// outlookRule is the line that Outlook writes above the mail that is answered.
const outlookRule = "________________________________"

// isQuote reports whether an element begins the mail that is answered, as Outlook and Yahoo mark it.
func isQuote(t *html.Token) bool {
	for _, a := range t.Attr {
		if a.Key == "id" && (a.Val == "divRplyFwdMsg" || strings.HasPrefix(a.Val, "appendonsend")) ||
			a.Key == "class" && strings.Contains(a.Val, "yahoo_quoted") {
			return true
		}
	}
	return false
}

func (w *textWriter) closeElement(t *html.Token) {
	switch t.DataAtom {
	case atom.Script, atom.Style, atom.Head, atom.Title, atom.Template:
		w.hidden = max(w.hidden-1, 0)
	case atom.Blockquote:
		w.endLine(false)
		w.quoted = max(w.quoted-1, 0)
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4:
		w.endLine(false)
		w.endLine(true)
	case atom.Div, atom.Tr, atom.Li, atom.Table, atom.Ul, atom.Ol, atom.Pre, atom.Body, atom.Html:
		w.endLine(false)
	default: // stands in its line
	}
}
