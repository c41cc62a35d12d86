package compose

import (
	"errors"
	"html"
	"regexp"
	"strconv"
	"strings"

	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var errNoBody = errors.New("the HTML has no body")

var webAddress = regexp.MustCompile(`https?://[^\s<>"']*[^\s<>"'.,;:!?)\]]`)

// textPage returns plain text as HTML: an empty line ends a paragraph, and web addresses become links.
func textPage(text string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(text), "\r\n", "\n"), "\n\n") {
		b.WriteString("<p>")
		for from := 0; ; {
			at := webAddress.FindStringIndex(part[from:])
			if at == nil {
				b.WriteString(lines(part[from:]))
				break
			}
			link := html.EscapeString(part[from+at[0] : from+at[1]])
			b.WriteString(lines(part[from:from+at[0]]) + `<a href="` + link + `">` + link + `</a>`)
			from += at[1]
		}
		b.WriteString("</p>\n")
	}
	return b.String()
}

func lines(s string) string { return strings.ReplaceAll(html.EscapeString(s), "\n", "<br>\n") }

// textWriter writes HTML as plain text.
type textWriter struct {
	b       strings.Builder
	breaks  int  // line ends that are due before the next word
	space   bool // a space is due
	quoted  int  // depth of blockquote
	lists   []int
	literal int // depth of pre
}

// text returns the text part of the page: paragraphs are separated by empty lines, a link has its target behind it.
func (p *page) text() string {
	var w textWriter
	w.children(p.tree)
	return strings.TrimSpace(w.b.String()) + "\n"
}

// signatureText returns the signature as text, or "".
func (p *page) signatureText() string {
	if p.signature == nil {
		return ""
	}
	var w textWriter
	w.children(p.signature)
	if s := strings.TrimSpace(w.b.String()); s != "" {
		return s + "\n"
	}
	return ""
}

func (w *textWriter) children(n *nethtml.Node) {
	for c := range n.ChildNodes() {
		w.node(c)
	}
}

func (w *textWriter) node(n *nethtml.Node) {
	if n.Type == nethtml.TextNode {
		w.words(n.Data)
		return
	}
	if n.Type != nethtml.ElementNode {
		return
	}
	switch n.DataAtom {
	case atom.Br:
		w.breaks++
	case atom.Hr:
		w.atLeast(2)
		w.words(strings.Repeat("-", 40))
		w.atLeast(2)
	case atom.Img:
		w.words(attribute(n, "alt"))
	case atom.A:
		w.link(n)
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Dl, atom.Blockquote,
		atom.Pre, atom.Figure:
		w.paragraph(n)
	case atom.Li:
		w.item(n)
	case atom.Td, atom.Th:
		w.children(n)
		w.space = true
	case atom.Div, atom.Tr, atom.Table, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main, atom.Address,
		atom.Dt, atom.Dd, atom.Center, atom.Caption, atom.Aside, atom.Nav:
		w.atLeast(1)
		w.children(n)
		w.atLeast(1)
	default:
		w.children(n)
	}
}

func (w *textWriter) paragraph(n *nethtml.Node) {
	w.atLeast(2)
	switch n.DataAtom {
	case atom.Blockquote:
		w.quoted++
		defer func() { w.quoted-- }()
	case atom.Ul:
		w.lists = append(w.lists, -1)
		defer func() { w.lists = w.lists[:len(w.lists)-1] }()
	case atom.Ol:
		w.lists = append(w.lists, 0)
		defer func() { w.lists = w.lists[:len(w.lists)-1] }()
	case atom.Pre:
		w.literal++
		defer func() { w.literal-- }()
	default:
	}
	w.children(n)
	w.atLeast(2)
}

func (w *textWriter) item(n *nethtml.Node) {
	w.breaks = 1
	mark := "- "
	if depth := len(w.lists); depth > 0 {
		if i := &w.lists[depth-1]; *i >= 0 {
			*i++
			mark = strconv.Itoa(*i) + ". "
		}
		mark = strings.Repeat("  ", depth-1) + mark
	}
	w.flush()
	w.b.WriteString(mark)
	w.children(n)
	w.atLeast(1)
}

func (w *textWriter) link(n *nethtml.Node) {
	w.children(n)
	href := attribute(n, "href")
	shown := linkText(n)
	target := strings.TrimPrefix(strings.TrimPrefix(href, "mailto:"), "tel:")
	if href == "" || strings.HasPrefix(href, "#") || shown == href || shown == target {
		return
	}
	if shown == "" {
		w.words(target)
		return
	}
	w.space = true
	w.words("(" + target + ")")
}

// linkText returns the text of a link, or of its picture.
func linkText(n *nethtml.Node) string {
	var words []string
	for c := range n.Descendants() {
		if c.Type == nethtml.TextNode {
			words = append(words, strings.Fields(c.Data)...)
		} else if c.DataAtom == atom.Img {
			words = append(words, strings.Fields(attribute(c, "alt"))...)
		}
	}
	return strings.Join(words, " ")
}

// atLeast makes n line ends due.
func (w *textWriter) atLeast(n int) {
	w.breaks = max(w.breaks, n)
	w.space = false
}

// flush writes the line ends or the space that are due.
func (w *textWriter) flush() {
	switch {
	case w.b.Len() == 0:
		w.b.WriteString(strings.Repeat("> ", w.quoted))
	case w.breaks > 0:
		w.b.WriteString(strings.Repeat("\n", min(w.breaks, 2)) + strings.Repeat("> ", w.quoted))
	case w.space:
		w.b.WriteByte(' ')
	}
	w.breaks, w.space = 0, false
}

func (w *textWriter) words(s string) {
	if w.literal > 0 {
		w.flush()
		w.b.WriteString(strings.TrimRight(s, "\n"))
		return
	}
	words := strings.Fields(s)
	if len(words) == 0 {
		w.space = w.space || s != ""
		return
	}
	w.space = w.space || strings.TrimLeft(s, " \t\r\n\f") != s
	w.flush()
	w.b.WriteString(strings.Join(words, " "))
	w.space = strings.TrimRight(s, " \t\r\n\f") != s
}
