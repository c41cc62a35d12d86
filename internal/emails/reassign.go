package emails

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// UserOfMailbox is an email that a mailbox is to send.
type UserOfMailbox struct {
	ID      id.ID
	Subject string
}

// UsersOfMailbox returns how many emails of a mailbox are not sent yet, and the first ones among them that belong to
// no sequence and no broadcast, at most limit.
func UsersOfMailbox(ctx context.Context, tx *postgres.Tx, mailbox id.ID, limit int) (all []UserOfMailbox, n int,
	err error,
) {
	const unsent = `org_id = $1 AND mailbox_id = $2 AND status IN ('scheduled', 'planned', 'transmitting')`
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM email WHERE `+unsent, []any{tx.Org(), mailbox}, &n); err != nil {
		return nil, 0, fmt.Errorf("count unsent emails: %w", err)
	}
	rows, err := tx.Query(ctx, `SELECT id, subject FROM email WHERE `+unsent+` AND enrolment_id IS NULL
		AND broadcast_id IS NULL ORDER BY id LIMIT $3`, tx.Org(), mailbox, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("find unsent emails: %w", err)
	}
	all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[UserOfMailbox])
	if err != nil {
		return nil, 0, fmt.Errorf("find unsent emails: %w", err)
	}
	return all, n, nil
}

// Reassigned is an email that another mailbox sends now. Its job has the concurrency key of the mailbox before, and may
// be held with it: the caller adds another one.
type Reassigned struct {
	Email       id.ID
	Automated   bool
	ScheduledAt *wire.Time // nil: it is sent at once
}

// ReassignMailbox gives the emails of a mailbox that are not being transmitted yet to another one: they are from its
// address. What they were composed of stays, the Message-ID too.
func (s *Service) ReassignMailbox(ctx context.Context, tx *postgres.Tx, from id.ID, to *mailboxes.Sending) (
	[]Reassigned, error,
) {
	return s.reassign(ctx, tx, to, `e.mailbox_id = $3`, from)
}

// reassign gives the emails e that are not sent, and that where selects by its argument $3, to a mailbox.
func (s *Service) reassign(ctx context.Context, tx *postgres.Tx, to *mailboxes.Sending, where string, arg id.ID) (
	[]Reassigned, error,
) {
	rows, err := tx.Query(ctx, `UPDATE email e SET mailbox_id = $2, computed = computed + 1 WHERE e.org_id = $1
		AND e.status IN ('scheduled', 'planned') AND `+where+` RETURNING e.id, e.automated,
			CASE WHEN e.status = 'scheduled' THEN e.scheduled_at END`, tx.Org(), to.ID, arg)
	if err != nil {
		return nil, fmt.Errorf("reassign emails: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Reassigned])
	if err != nil || len(all) == 0 {
		return nil, wrapped("reassign emails", err)
	}

	pair, err := orgkey.Of(ctx, tx, s.Box)
	if err != nil {
		return nil, err
	}

	ids := make([]id.ID, len(all))
	for i := range all {
		ids[i] = all[i].Email
	}
	links, err := linksOf(ctx, tx, ids)
	if err != nil {
		return nil, err
	}

	for _, i := range ids {
		c := contentOf(&New{Mailbox: to, ListUnsubscribe: links[i]}, &Email{ID: i})
		s.setReplyAddress(tx.Org(), &Email{ID: i}, c, pair.Org)
		c.addUnsubscribeAddress()
		tx.Queue(`UPDATE email_content SET from_email = $3, from_name = $4, reply_to = $5, bounce_to = $6,
				list_unsubscribe = $7 WHERE org_id = $1 AND email_id = $2`,
			tx.Org(), i, c.fromEmail, c.fromName, c.replyTo, c.bounceTo, c.listUnsubscribe)
	}

	return all, nil
}

func wrapped(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// linksOf returns the links that end mails to the recipients of emails, without the addresses that do.
func linksOf(ctx context.Context, tx *postgres.Tx, all []id.ID) (map[id.ID][]string, error) {
	rows, err := tx.Query(ctx, `SELECT email_id, list_unsubscribe FROM email_content WHERE org_id = $1
		AND email_id = ANY ($2::uuid[])`, tx.Org(), all)
	if err != nil {
		return nil, fmt.Errorf("read links of emails: %w", err)
	}
	out := make(map[id.ID][]string, len(all))
	var one id.ID
	var links []string
	_, err = pgx.ForEachRow(rows, []any{&one, &links}, func() error {
		out[one] = slices.DeleteFunc(slices.Clone(links), func(l string) bool {
			return strings.HasPrefix(l,
				"mailto:")
		})
		return nil
	})
	return out, wrapped("read links of emails", err)
}

// followMailbox gives an email whose mailbox was archived to the mailbox that took over, and reports whether there is
// one.
func (s *Service) followMailbox(ctx context.Context, db *postgres.DB, org, email id.ID) (moved bool, err error) {
	err = db.Tx(ctx, org, func(tx *postgres.Tx) error {
		to, err := s.Mailboxes.SuccessorOfEmail(ctx, tx, email)
		if err != nil || to == nil {
			return err
		}
		all, err := s.reassign(ctx, tx, to, `e.id = $3`, email)
		moved = len(all) > 0
		return err
	})
	return moved, err
}
