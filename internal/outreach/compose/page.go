package compose

import (
	"fmt"
	"html"
	"slices"
	"strings"

	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// page is the HTML of a mail after its merge values are filled in.
type page struct {
	body      string // sanitised
	style     string // rules that cannot be inlined
	bodyStyle string
	ground    string // the attribute bgcolor of the body
	direction string
	language  string
	tree      *nethtml.Node // of body
	signature *nethtml.Node // in tree; nil if there is none
	links     []Link
	images    int
	words     int
	removed   int      // elements that the policy refuses
	refused   []string // targets of links that the policy refuses
}

const signatureClass = "fw-signature"

// newPage sanitises document and inlines its styles.
func newPage(document, signature string) (*page, error) {
	root, err := nethtml.Parse(strings.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("read HTML: %w", err)
	}
	body := find(root, atom.Body)
	if body == nil { // a document of frames
		return nil, errNoBody
	}
	if signature != "" {
		nodes, err := nethtml.ParseFragment(strings.NewReader(signature), body)
		if err != nil {
			return nil, fmt.Errorf("read signature: %w", err)
		}
		around := &nethtml.Node{
			Type: nethtml.ElementNode, Data: "div", DataAtom: atom.Div,
			Attr: []nethtml.Attribute{{Key: "class", Val: signatureClass}},
		}
		for _, n := range nodes {
			around.AppendChild(n)
		}
		body.AppendChild(around)
	}
	p := &page{}
	p.style = styleText(inline(root, rules(takeSheets(root), "")))
	for n := range body.Descendants() {
		if n.Type == nethtml.ElementNode && !slices.Contains(elements, n.Data) {
			p.removed++
		}
		if href := attribute(n, "href"); n.Type == nethtml.ElementNode && n.DataAtom == atom.A && isRefused(href) {
			p.refused = append(p.refused, href)
		}
	}
	p.bodyStyle = attribute(body, "style")
	p.ground, p.direction = attribute(body, "bgcolor"), attribute(body, "dir")
	p.language = attribute(find(root, atom.Html), "lang")
	var b strings.Builder
	for n := range body.ChildNodes() {
		if err := nethtml.Render(&b, n); err != nil {
			return nil, fmt.Errorf("write HTML: %w", err)
		}
	}
	p.body = strings.TrimSpace(outgoing().Sanitize(b.String()))
	if root, err = nethtml.Parse(strings.NewReader(p.body)); err != nil {
		return nil, fmt.Errorf("read sanitised HTML: %w", err)
	}
	p.tree = find(root, atom.Body)
	p.survey()
	return p, nil
}

// isRefused reports whether the target of a link has a scheme that the policy refuses.
func isRefused(href string) bool {
	scheme, _, found := strings.Cut(strings.TrimSpace(href), ":")
	return found && !strings.ContainsAny(scheme, "/?#") && !slices.Contains(schemes, strings.ToLower(scheme))
}

// takeSheets removes the style elements below root and returns their text.
func takeSheets(root *nethtml.Node) string {
	var b strings.Builder
	var sheets []*nethtml.Node
	for n := range root.Descendants() {
		if n.Type == nethtml.ElementNode && n.DataAtom == atom.Style {
			sheets = append(sheets, n)
		}
	}
	for _, n := range sheets {
		for t := range n.ChildNodes() {
			b.WriteString(t.Data)
		}
		b.WriteByte('\n')
		n.Parent.RemoveChild(n)
	}
	return b.String()
}

func find(root *nethtml.Node, a atom.Atom) *nethtml.Node {
	for n := range root.Descendants() {
		if n.Type == nethtml.ElementNode && n.DataAtom == a {
			return n
		}
	}
	return nil
}

// styleText writes rules as a style sheet.
func styleText(list []rule) string {
	var b strings.Builder
	for _, r := range list {
		for i := range r.declarations {
			// A rule of a media query must win over the style attribute that other rules became.
			r.declarations[i].important = r.declarations[i].important || r.media != ""
		}
		text := strings.Join(r.selectors, ",") + "{" + joined(r.declarations) + "}"
		if r.media != "" {
			text = "@media " + r.media + "{" + text + "}"
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// survey collects the links and counts pictures and words.
func (p *page) survey() {
	for n := range p.tree.Descendants() {
		switch {
		case n.Type == nethtml.TextNode:
			p.words += len(strings.Fields(n.Data))
		case n.Type != nethtml.ElementNode:
		case n.DataAtom == atom.Img:
			p.images++
		case n.DataAtom == atom.A:
			if href := attribute(n, "href"); href != "" && !strings.HasPrefix(href, "#") {
				p.links = append(p.links, Link{URL: href, Text: linkText(n)})
			}
		case n.DataAtom == atom.Div && slices.Contains(n.Attr, nethtml.Attribute{Key: "class", Val: signatureClass}):
			p.signature = n
		}
	}
}

// document returns the whole document.
func (p *page) document(title string) string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html")
	writeAttribute(&b, "lang", p.language)
	b.WriteString("><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">" +
		"<title>" + html.EscapeString(title) + "</title>")
	if p.style != "" {
		b.WriteString("<style>\n" + p.style + "</style>")
	}
	b.WriteString("</head>\n<body")
	writeAttribute(&b, "dir", p.direction)
	writeAttribute(&b, "bgcolor", p.ground)
	writeAttribute(&b, "style", p.bodyStyle)
	b.WriteString(">\n" + p.body + "\n</body></html>\n")
	return b.String()
}

func writeAttribute(b *strings.Builder, name, value string) {
	if value != "" {
		b.WriteString(" " + name + `="` + html.EscapeString(value) + `"`)
	}
}
