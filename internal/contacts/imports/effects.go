package imports

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// rememberSQL upserts effects. A contact that several rows match has one effect: its state before the first change, and
// the edit after the last one. If someone else edited it between two changes of the import, the effect has no edit and
// is not undone.
const rememberSQL = `
INSERT INTO contact_import_effect AS e (org_id, import_id, contact_id, act, was_edit, edit, before, after, email_folded)
SELECT $1, $2, u.contact, u.act, u.was, u.edit, u.before::jsonb, u.after::jsonb, u.email
FROM unnest($3::uuid[], $4::text[], $5::int[], $6::int[], $7::text[], $8::text[], $9::text[]) AS u (contact, act,
was, edit, before, after, email)
ON CONFLICT (org_id, import_id, contact_id) DO UPDATE SET
	act = CASE e.act WHEN 'unchanged' THEN excluded.act ELSE e.act END,
	was_edit = CASE e.act WHEN 'unchanged' THEN excluded.was_edit ELSE e.was_edit END,
	before = CASE e.act WHEN 'unchanged' THEN excluded.before ELSE e.before END,
	edit = CASE WHEN excluded.act = 'unchanged' THEN e.edit WHEN e.act <> 'unchanged'
	AND excluded.was_edit <> e.edit THEN -1 ELSE excluded.edit END,
	after = coalesce(excluded.after, e.after), email_folded = coalesce(excluded.email_folded, e.email_folded)
RETURNING contact_id, xmax = 0`

// remember stores the effects of the rows on each contact, and reports which rows match a contact that an earlier row
// of the import matched.
func (i *Import) remember(ctx context.Context, tx *postgres.Tx, outcomes []contacts.Outcome,
	made, changed []contacts.Change,
) (repeated []bool, err error) {
	var (
		ids                  []id.ID
		acts                 []string
		from, edits          []int
		before, after, email []*string
		met                  = map[id.ID]bool{}
	)
	add := func(contact id.ID, act string, wasEdit, edit int) {
		met[contact] = true
		ids, acts, from, edits = append(ids, contact), append(acts, act), append(from, wasEdit), append(edits, edit)
		before, after, email = append(before, nil), append(after, nil), append(email, nil)
	}
	image := func(v any, at **string) error {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("encode contact: %w", err)
		}
		s := string(b)
		*at = &s
		return nil
	}
	note := func(ch *contacts.Change) error { // for a dry run
		if !i.DryRun {
			return nil
		}
		folded, last := compare.Address(ch.Email), len(ids)-1
		email[last] = &folded
		return image(&ch.Row, &after[last])
	}
	for n := range made {
		add(made[n].ID, contacts.Created, 0, made[n].Edit)
		if err := note(&made[n]); err != nil {
			return nil, err
		}
	}
	for n := range changed {
		add(changed[n].ID, contacts.Updated, changed[n].Edit-1, changed[n].Edit)
		was := *changed[n].Before() // an undo does not restore dynamic segments
		was.Segment = changed[n].StaticOf(was.Segment)
		if err := image(&was, &before[len(ids)-1]); err != nil {
			return nil, err
		}
		if err := note(&changed[n]); err != nil {
			return nil, err
		}
	}
	for n := range outcomes {
		if outcomes[n].Result != contacts.Failed && !met[outcomes[n].ID] {
			add(outcomes[n].ID, contacts.Unchanged, 0, 0)
		}
	}

	repeated = make([]bool, len(outcomes))
	if len(ids) == 0 {
		return repeated, nil
	}
	rows, err := tx.Query(ctx, rememberSQL, tx.Org(), i.ID, ids, acts, from, edits, before, after, email)
	if err != nil {
		return nil, fmt.Errorf("store effects: %w", err)
	}
	seen := map[id.ID]bool{} // contacts of earlier rows
	var contact id.ID
	var isNew bool
	if _, err := pgx.ForEachRow(rows, []any{&contact, &isNew}, func() error {
		if !isNew {
			seen[contact] = true
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("store effects: %w", err)
	}

	for n := range outcomes {
		if outcomes[n].Result != contacts.Failed {
			repeated[n] = seen[outcomes[n].ID]
			seen[outcomes[n].ID] = true
		}
	}

	return repeated, nil
}
