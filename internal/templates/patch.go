package templates

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Patch is a merge patch (RFC 7396) of a template. It is also the body of a create request.
type Patch struct {
	Name    wire.Field[string]
	Subject wire.Field[string]
	HTML    wire.Field[string]
	Text    wire.Field[string]
	Blocks  wire.Field[[]compose.Block]
	form.Refused
}

const maxSubject = 2000 // characters of the source

func (p *Patch) fillTemplate(f *form.Form, t *Template) {
	f.Required("name", p.Name, &t.Name, form.Name)
	p.applyParts(f, t)
}

// applyParts applies the parts of the mail, and checks that they can be rendered.
func (p *Patch) applyParts(f *form.Form, t *Template) {
	if p.Subject.Set {
		subject := &t.Subject
		f.Optional("subject", p.Subject, &subject, maxSubject)
		if subject == nil {
			subject = new(string)
		}
		t.Subject = *subject
	}
	f.OptionalText("html", p.HTML, &t.HTML, compose.MaxHTML)
	f.OptionalText("text", p.Text, &t.Text, compose.MaxText)
	if p.Blocks.Set {
		if t.Blocks = p.Blocks.Value; p.Blocks.Null || len(t.Blocks) == 0 {
			t.Blocks = nil
		}
	}
	if !f.OK() {
		return
	}

	_, err := compose.Parse(t.Source())
	if wrong, ok := errors.AsType[*compose.SourceError](err); ok {
		f.Wrong(strings.TrimPrefix(wrong.Pointer, "/"), "invalid_template", asSentence(wrong.Msg))
	}
}

// asSentence returns a message as a detail of a fault.
func asSentence(msg string) string {
	if msg == "" {
		return ""
	}
	return strings.ToUpper(msg[:1]) + msg[1:] + "."
}

// applyTo applies p to now. was is the stored template.
func (p *Patch) applyTo(was, now *Template) error {
	f := form.At("")
	f.ReadOnly(p.Sent, was)
	p.fillTemplate(f, now)
	return f.Fault()
}

// newTemplate returns the new template that p describes.
func (p *Patch) newTemplate(now wire.Time) (Template, error) {
	f := form.At("")
	t := Template{ID: id.New(), CreatedAt: now, UpdatedAt: now}
	f.ReadOnly(p.Sent, &t)
	form.Missing(f, "name", p.Name)
	p.fillTemplate(f, &t)
	return t, f.Fault()
}

// SourceOf returns the parts of a mail that p describes. path is the JSON pointer to p's object in the request. An
// invalid p is a validation fault.
func (p *Patch) SourceOf(path string) (compose.Source, error) {
	f := form.At(path)
	t := Template{}
	p.applyParts(f, &t)
	return t.Source(), f.Fault()
}

// blocksJSON returns the stored form of blocks: nil if there are none.
func blocksJSON(blocks []compose.Block) ([]byte, error) {
	if len(blocks) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(blocks)
	if err != nil {
		return nil, fmt.Errorf("encode blocks: %w", err)
	}
	return b, nil
}
