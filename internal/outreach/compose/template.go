package compose

import (
	"errors"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/outreach/liquid"
)

// A Template is a checked Source. It is safe for concurrent use.
type Template struct {
	source        Source
	subject, text *liquid.Template
	html          *liquid.Template // of the HTML or the blocks; nil if there are neither
	spans         []span           // of the blocks in html
}

// Parse checks s. An error is a *SourceError.
func Parse(s Source) (*Template, error) {
	t := &Template{source: s}
	if s.HTML != "" && len(s.Blocks) > 0 {
		return nil, &SourceError{"/blocks", "a template has html or blocks, not both"}
	}
	if s.HTML == "" && s.Text == "" && len(s.Blocks) == 0 {
		return nil, &SourceError{"/html", "a template needs html, text or blocks"}
	}
	var err error
	if t.subject, err = parsePart("/subject", s.Subject, MaxText); err != nil {
		return nil, err
	}
	if t.text, err = parsePart("/text", s.Text, MaxText); err != nil {
		return nil, err
	}
	count := 0
	for i := range s.Blocks {
		if err = checkBlock("/blocks/"+strconv.Itoa(i), &s.Blocks[i], 0, &count); err != nil {
			return nil, err
		}
	}
	compiled := s.HTML
	if len(s.Blocks) > 0 {
		compiled, t.spans = compileBlocks(s.Blocks)
	}
	if compiled == "" {
		return t, nil
	}
	if t.html, err = parsePart(t.htmlPointer(), compiled, MaxHTML); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Template) htmlPointer() string {
	if len(t.spans) > 0 {
		return "/blocks"
	}
	return "/html"
}

// Values are the merge values of a mail.
type Values struct {
	Contact        map[string]any // first_name and the other fields; attributes is a map
	Company        map[string]any
	Sender         string // name of the person or mailbox that sends
	Org            string // name of the organization
	UnsubscribeURL string
	PreferencesURL string
}

func (v *Values) merge() map[string]any {
	return map[string]any{
		"contact": v.Contact, "company": v.Company,
		"sender": map[string]any{"name": v.Sender}, "org": map[string]any{"name": v.Org},
		"unsubscribe_url": v.UnsubscribeURL, "preferences_url": v.PreferencesURL,
	}
}

// Rendered is a mail for one contact.
type Rendered struct {
	Subject string
	HTML    string // a document, sanitised, with inlined styles
	Text    string
	Links   []Link
	images  int      // in the HTML
	words   int      // in the HTML
	removed int      // elements that the policy removed
	refused []string // targets of links that the policy removed
	own     []string // addresses of the service's own pages
}

// A Link is a link of the HTML, in the order of the document.
type Link struct {
	URL  string `json:"url" doc:"Target of the link, as the recipient gets it"`
	Text string `json:"text" doc:"Text of the link, or the alternative text of its picture"`
}

// Render renders the mail with v. signature is HTML of the mailbox, without merge fields, or "". The same input gives
// the same bytes. An error is a *MissingError or a *RenderError.
func (t *Template) Render(v *Values, signature string) (*Rendered, error) {
	merge := v.merge()
	r := Rendered{own: []string{v.UnsubscribeURL, v.PreferencesURL}}
	var err error
	if r.Subject, err = t.part(t.subject, "/subject", liquid.Header, merge); err != nil {
		return nil, err
	}
	r.Subject = oneLine(r.Subject, maxSubject)
	if r.Text, err = t.part(t.text, "/text", liquid.Text, merge); err != nil {
		return nil, err
	}
	document := textPage(r.Text)
	if t.html != nil {
		if document, err = t.part(t.html, t.htmlPointer(), liquid.HTML, merge); err != nil {
			return nil, err
		}
	}
	p, err := newPage(document, signature)
	if err != nil {
		return nil, &RenderError{t.htmlPointer(), err}
	}
	r.HTML = p.document(r.Subject)
	r.Links, r.images, r.words, r.removed, r.refused = p.links, p.images, p.words, p.removed, p.refused
	if strings.TrimSpace(r.Text) == "" {
		r.Text = p.text()
	} else if s := p.signatureText(); s != "" {
		r.Text = strings.TrimRight(r.Text, "\n") + "\n\n-- \n" + s
	}
	return &r, nil
}

// part renders one member of the source.
func (t *Template) part(
	part *liquid.Template, pointer string, as liquid.Escape, merge map[string]any,
) (string, error) {
	out, err := part.Render(as, merge)
	if err == nil {
		return out, nil
	}
	if missing, ok := errors.AsType[*liquid.MissingError](err); ok {
		e := &MissingError{Pointer: pointer, Field: missing.Path, Line: missing.Line, Column: missing.Column}
		if pointer == "/blocks" {
			e.Pointer, e.Line, e.Column = memberAt(t.spans, missing.Line, missing.Column), 0, 0
		}
		return "", e
	}
	if value, ok := errors.AsType[*liquid.ValueError](err); ok && pointer == "/blocks" {
		pointer = memberAt(t.spans, value.Line, value.Column)
	}
	return "", &RenderError{pointer, err}
}
