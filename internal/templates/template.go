package templates

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Template is a stored template of mails.
type Template struct {
	ID         id.ID           `json:"id" format:"uuid" doc:"ID of the template"`
	Name       string          `json:"name" doc:"Display name, 1 to 200 characters"`
	Subject    string          `json:"subject" doc:"Subject of the mail, with merge fields"`
	HTML       *string         `json:"html" doc:"HTML of the mail, with merge fields; null: none"`
	Text       *string         `json:"text"`
	Blocks     []compose.Block `json:"blocks" nullable:"true"`
	CreatedAt  wire.Time       `json:"created_at" format:"date-time" doc:"When the template was created"`
	UpdatedAt  wire.Time       `json:"updated_at" format:"date-time" doc:"When the template was last edited"`
	ArchivedAt *wire.Time      `json:"archived_at" format:"date-time" doc:"When it was archived; null: it is live"`
}

// Descriptions implements wire.Describer.
func (Template) Descriptions() map[string]string {
	return map[string]string{
		"text":   "Text part, with merge fields; null: it is made from the HTML",
		"blocks": "The blocks that the HTML is built from; null: the template has HTML or text",
	}
}

// Source returns the parts of the mail.
func (t *Template) Source() compose.Source {
	return compose.Source{Subject: t.Subject, HTML: derefText(t.HTML), Text: derefText(t.Text), Blocks: t.Blocks}
}

func derefText(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Row is a template with its edit counter.
type Row = record.Row[Template]

// Change is the result of a change to a template.
type Change = record.Change[Template]

var table = record.Table[Template]{
	Name: "template", Absent: "There is no such template.",
	Columns: "id, name, subject, html, text, blocks, created_at, updated_at, archived_at",
	Scan: func(t *Template) []any {
		return []any{
			&t.ID, &t.Name, &t.Subject, &t.HTML, &t.Text, &t.Blocks, &t.CreatedAt, &t.UpdatedAt, &t.ArchivedAt,
		}
	},
	Stamps: func(t *Template) (*wire.Time, **wire.Time) { return &t.UpdatedAt, &t.ArchivedAt },
}

// Get returns one template of the org. An archived template is returned only with archivedToo. If there is no such
// template, the error is a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (Row, error) {
	return table.Get(ctx, tx, i, archivedToo)
}

// Create creates a template from p. An invalid p is a validation fault.
func Create(tx *postgres.Tx, p *Patch) (Row, error) {
	t, err := p.newTemplate(wire.Now())
	if err != nil {
		return Row{}, err
	}
	blocks, err := blocksJSON(t.Blocks)
	if err != nil {
		return Row{}, err
	}
	tx.Queue(`INSERT INTO template (org_id, id, name, name_folded, subject, html, text, blocks, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
		tx.Org(), t.ID, t.Name, compare.Text(t.Name), t.Subject, t.HTML, t.Text, blocks, t.CreatedAt)
	return Row{Value: t, Edit: 1}, nil
}

// Update applies p to the live template i; see record.Table.Update.
func Update(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match, p *Patch) (Change, error) {
	ch, err := table.Update(ctx, tx, i, match, p.applyTo)
	if err != nil || !ch.Changed() {
		return ch, err
	}
	t := &ch.Value
	blocks, err := blocksJSON(t.Blocks)
	if err != nil {
		return ch, err
	}
	tx.Queue(`UPDATE template SET name = $3, name_folded = $4, subject = $5, html = $6, text = $7, blocks = $8,
		updated_at = $9, edit = edit + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org(), t.ID, t.Name, compare.Text(t.Name), t.Subject, t.HTML, t.Text, blocks, t.UpdatedAt)
	return ch, nil
}

// Archive hides the template; see record.Table.Archive. Mails that were rendered from it keep what they stored.
func Archive(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match) (Change, error) {
	return table.Archive(ctx, tx, i, match)
}

// Restore undoes Archive.
func Restore(ctx context.Context, tx *postgres.Tx, i id.ID) (Change, error) {
	ch, _, err := table.Restore(ctx, tx, i)
	return ch, err
}
