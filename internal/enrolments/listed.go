package enrolments

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ListedEnrolment is an enrolment as a list has it.
type ListedEnrolment struct {
	Enrolment
	mailboxes.Wait
	ContactName *string `json:"contact_name" doc:"Name of the contact, or the email without one; null: it was purged"`
}

// Listed adds to enrolments what they wait for and the names of their contacts.
func Listed(ctx context.Context, tx *postgres.Tx, all []Enrolment) ([]ListedEnrolment, error) {
	waits, err := Waits(ctx, tx, all)
	if err != nil {
		return nil, err
	}
	names, err := contactNames(ctx, tx, all)
	if err != nil {
		return nil, err
	}
	out := make([]ListedEnrolment, len(all))
	for i := range all {
		out[i].Enrolment, out[i].Wait = all[i], waits[i]
		if name, ok := names[all[i].ContactID]; ok {
			out[i].ContactName = &name
		}
	}
	return out, nil
}

// contactNames returns the names of the contacts of enrolments.
func contactNames(ctx context.Context, tx *postgres.Tx, all []Enrolment) (map[id.ID]string, error) {
	contacts := make([]id.ID, len(all))
	for i := range all {
		contacts[i] = all[i].ContactID
	}
	rows, err := tx.Query(ctx, `SELECT c.id, coalesce(nullif(btrim(c.first_name || ' ' || c.last_name), ''), c.email)
		FROM contact c WHERE c.org_id = $1 AND c.id = ANY ($2::uuid[])`, tx.Org(), contacts)
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	names := make(map[id.ID]string, len(all))
	var (
		contact id.ID
		name    string
	)
	if _, err := pgx.ForEachRow(rows, []any{&contact, &name}, func() error {
		names[contact] = name
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	return names, nil
}
