package templates

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Service renders mails. It is safe for concurrent use.
type Service struct {
	Box       *secret.Sealer // opens the keys of the orgs
	PublicURL string         // base of the links, without a trailing slash
}

// Mail describes a mail to render.
type Mail struct {
	// Template is the live template of the mail; nil: Source is the mail. Parts of Source that are not "" replace those
	// of the template.
	Template *id.ID
	Source   compose.Source
	Contact  id.ID
	Email    id.ID // of the mail, for the tokens of its links
	Sender   Sender
}

// Rendered is a mail for one contact, and what it can be rendered from again.
type Rendered struct {
	*compose.Rendered
	Source         compose.Source
	Values         json.RawMessage // see Collect
	UnsubscribeURL string          // takes the POST of RFC 8058
}

// Render renders a mail to a live contact. tx must be able to write: an org's key is created with its first use. An
// error is a validation fault for an unknown contact_id or template_id and for parts that cannot be parsed, a
// *compose.MissingError for a merge field without a value, or a *compose.RenderError; see Fault.
func (s *Service) Render(ctx context.Context, tx *postgres.Tx, m *Mail) (*Rendered, error) {
	source, err := sourceOf(ctx, tx, m.Template, m.Source)
	if err != nil {
		return nil, err
	}

	pair, err := orgkey.Of(ctx, tx, s.Box)
	if err != nil {
		return nil, err
	}

	link := Link{Org: tx.Org(), Contact: m.Contact, Email: m.Email}
	out := &Rendered{
		Source: source, UnsubscribeURL: s.PublicURL + UnsubscribePath + link.Token(pair.Org, Unsubscribe),
	}
	if out.Values, err = Collect(ctx, tx, m.Contact, m.Sender, out.UnsubscribeURL); err != nil {
		return nil, unknownRecord(err, "contact")
	}

	out.Rendered, err = Again(source, out.Values, m.Sender.SignatureHTML)
	return out, err
}

// Again renders a mail from the stored parts of a Rendered. The bytes are those of the first time.
func Again(source compose.Source, values json.RawMessage, signatureHTML string) (*compose.Rendered, error) {
	t, err := compose.Parse(source)
	if err != nil {
		return nil, Fault(err)
	}
	v, err := Thaw(values)
	if err != nil {
		return nil, err
	}
	return t.Render(v, signatureHTML)
}

// sourceOf returns the parts of a mail: those of a template, replaced by the parts that are given.
func sourceOf(ctx context.Context, tx *postgres.Tx, template *id.ID, given compose.Source) (compose.Source, error) {
	if template == nil {
		return given, nil
	}

	row, err := Get(ctx, tx, *template, false)
	if err != nil {
		return compose.Source{}, unknownRecord(err, "template")
	}

	source := row.Value.Source()
	if given.Subject != "" {
		source.Subject = given.Subject
	}
	if given.HTML != "" || len(given.Blocks) > 0 {
		source.HTML = given.HTML
		source.Blocks = given.Blocks
	}
	if given.Text != "" {
		source.Text = given.Text
	}

	return source, nil
}

// unknownRecord converts a not_found fault to the validation fault of the member that names the record.
func unknownRecord(err error, kind string) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Code != fault.NotFound {
		return err
	}
	return fault.Invalid(kind+"_id", "unknown_"+kind, f.Detail).Because(err)
}

// Fault converts an error of package compose to a 422 fault, and returns other errors unchanged. The pointer of
// merge_missing names the merge field: #/contact/first_name.
func Fault(err error) error {
	if missing, ok := errors.AsType[*compose.MissingError](err); ok {
		f := fault.Invalid(strings.ReplaceAll(missing.Field, ".", "/"), "merge_missing", asSentence(missing.Error()))
		f.Code = fault.MergeMissing
		return f.Because(err)
	}
	if wrong, ok := errors.AsType[*compose.SourceError](err); ok {
		pointer := strings.TrimPrefix(wrong.Pointer, "/")
		return fault.Invalid(pointer, "invalid_template", asSentence(wrong.Msg)).Because(err)
	}
	if wrong, ok := errors.AsType[*compose.RenderError](err); ok {
		pointer := strings.TrimPrefix(wrong.Pointer, "/")
		return fault.Invalid(pointer, "render_failed", asSentence(wrong.Err.Error())).Because(err)
	}
	return err
}
