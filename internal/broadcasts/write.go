package broadcasts

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/templates"
)

// lateHours is how long after it is due an email of a broadcast may be sent: caps may hold it for days.
const lateHours = 30 * 24

// writer writes the emails of one step.
type writer struct {
	*Service
	*Broadcast
	mailbox *mailboxes.Sending
	mail    frozen
	base    string // of the links
}

// writeEmails writes the emails of recipients that are due, with their jobs.
func (s *Service) writeEmails(ctx context.Context, tx *postgres.Tx, b *Broadcast, m *mailboxes.Sending,
	due []id.ID,
) error {
	w := &writer{Service: s, Broadcast: b, mailbox: m}
	var by string
	err := tx.QueryRow(ctx, `SELECT frozen, created_by FROM broadcast WHERE org_id = $1 AND id = $2`,
		[]any{tx.Org(), b.ID}, &w.mail, &by)
	if err != nil {
		return fmt.Errorf("read mail: %w", err)
	}
	if w.base, err = orgsending.LinkBase(ctx, tx, s.Templates.PublicURL); err != nil {
		return err
	}

	before, err := w.findAddressedBefore(ctx, tx, due)
	if err != nil {
		return err
	}

	lost := 0
	for _, contact := range due {
		reason := alreadySent
		if !before[contact] {
			if reason, err = w.writeEmail(ctx, tx, contact, by); err != nil {
				return err
			}
		}
		if reason != "" {
			b.LeftOut[reason]++
			lost++
		}
	}
	for _, contact := range due { // each by its key: of many at once Postgres may read all of the broadcast
		tx.Queue(`UPDATE broadcast_recipient SET written = true WHERE org_id = $1 AND broadcast_id = $2
			AND contact_id = $3`, tx.Org(), b.ID, contact)
	}
	if lost > 0 {
		tx.Queue(`UPDATE broadcast SET sendable = sendable - $3, left_out = $4, computed = computed + 1
			WHERE org_id = $1 AND id = $2`, tx.Org(), b.ID, lost, b.LeftOut)
	}

	return nil
}

// addressedSQL selects those contacts. A subquery that returns one value is executed by its key even if the statistics
// know nothing of the broadcast, while a join may read all its emails for each step. Without the last condition, which
// is that of the index email_broadcast_once, Postgres does not take the index.
const addressedSQL = `SELECT u.id FROM unnest($3::uuid[]) AS u (id) WHERE (
	SELECT (SELECT true FROM email e WHERE e.org_id = $1 AND e.broadcast_id = $2 AND e.to_email = c.email
		AND e.to_email <> '' LIMIT 1)
	FROM contact c WHERE c.org_id = $1 AND c.id = u.id)`

// findAddressedBefore returns the contacts whose address got the mail before, when it belonged to another contact.
func (w *writer) findAddressedBefore(ctx context.Context, tx *postgres.Tx, due []id.ID) (map[id.ID]bool, error) {
	rows, err := tx.Query(ctx, addressedSQL, tx.Org(), w.ID, due)
	if err != nil {
		return nil, fmt.Errorf("read addresses: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return nil, fmt.Errorf("read addresses: %w", err)
	}

	out := make(map[id.ID]bool, len(all))
	for _, i := range all {
		out[i] = true
	}

	return out, nil
}

// writeEmail writes the email to a contact, or returns the reason why there is none.
func (w *writer) writeEmail(ctx context.Context, tx *postgres.Tx, contact id.ID, by string) (reason string, err error) {
	row, err := contacts.Get(ctx, tx, contact, false)
	if fault.Is(err, fault.NotFound) {
		return archived, nil
	}
	if err != nil {
		return "", err
	}
	step := steps.Step{Key: w.ID.String(), Email: &w.mail.Email}
	variant := step.Variant(contact, nil)
	n := &emails.New{
		ID: id.New(), Mailbox: w.mailbox, ContactID: contact, ToEmail: row.Email,
		ToName: strings.TrimSpace(row.FirstName + " " + row.LastName), Purpose: emails.Marketing,
		Tracking: emails.Tracking{Opens: w.mailbox.TrackOpens, Clicks: w.mailbox.TrackClicks}, By: by, LinkBase: w.base,
		Automated: &emails.Automated{Broadcast: w.ID, Variant: variant, LateHours: lateHours},
	}
	renderer := &templates.Service{Box: w.Templates.Box, PublicURL: w.base}
	mail, err := renderer.Render(ctx, tx, &templates.Mail{
		Source: w.mail.variantSource(variant), Contact: contact, Email: n.ID,
		Sender: templates.Sender{Name: w.mailbox.FromName, SignatureHTML: w.mailbox.SignatureHTML},
	})
	if err != nil {
		if fault.Of(templates.Fault(err)) != nil {
			return mergeMissing, nil //nolint:nilerr // the recipient is left out for this reason
		}
		return "", err
	}

	n.Subject, n.HTML, n.Text = mail.Subject, mail.HTML, mail.Text
	n.ListUnsubscribe = []string{mail.UnsubscribeURL}
	full, err := w.Emails.Create(ctx, tx, n)
	if fault.Is(err, fault.Suppressed) {
		return suppressed, nil
	}

	if fault.Is(err, fault.ValidationFailed) {
		return noEmail, nil
	}
	if err != nil {
		return "", err
	}

	return "", w.Send(ctx, tx, full.ID, full.MailboxID)
}
