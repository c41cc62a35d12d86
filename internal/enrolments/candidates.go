package enrolments

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// candidate is a contact that may be enrolled.
type candidate struct {
	id              id.ID
	email, zone     string
	country, reason string
	unconfirmed     bool // it was asked for its consent, and has not confirmed it
}

// readCandidates reads the contacts, and why those that cannot be enrolled cannot.
func (e *enroller) readCandidates(ctx context.Context, tx *postgres.Tx, contacts []id.ID) (
	map[id.ID]*candidate, error,
) {
	enrolled := e.queueEnrolled(tx, contacts)
	rows, err := tx.Query(ctx, `
		SELECT c.id, c.email, coalesce(c.time_zone, ''), coalesce(c.country, ''), c.archived_at IS NOT NULL,
			c.consent ->> 'confirmed_at' IS NULL AND EXISTS (SELECT FROM consent_request r WHERE r.org_id = $1
				AND r.contact_id = c.id)
		FROM contact c WHERE c.org_id = $1 AND c.id = ANY ($2::uuid[])`, tx.Org(), contacts)
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}

	out := make(map[id.ID]*candidate, len(contacts))
	var sendable []*candidate
	var (
		c        candidate
		archived bool
	)
	if _, err := pgx.ForEachRow(rows, []any{
		&c.id, &c.email, &c.zone, &c.country, &archived, &c.unconfirmed,
	}, func() error {
		one := c
		was := enrolled[one.id]
		switch {
		case archived:
			one.reason = Archived
		case !strings.Contains(one.email, "@"):
			one.reason = NoEmail
		case was.open:
			one.reason = AlreadyOpen
		case was.elsewhere && e.version.Exclusive:
			one.reason = ActiveElsewhere
		case was.before && !e.version.AllowReenroll:
			one.reason = FinishedBefore
		case e.rules.Blocks(&one.country):
			one.reason = BlockedCountry
		case one.unconfirmed:
			one.reason = NoConsent
		default:
			sendable = append(sendable, &one)
		}
		out[one.id] = &one
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}

	return out, e.markSuppressed(ctx, tx, sendable)
}

// enrolled is what is known of the enrolments of a contact: there is an open one of the sequence, an open one of
// another sequence, and an ended one of the sequence.
type enrolled struct{ open, elsewhere, before bool }

// queueEnrolled queues reading the enrolments of the contacts. The map is filled once the statements of tx were sent.
func (e *enroller) queueEnrolled(tx *postgres.Tx, contacts []id.ID) map[id.ID]enrolled {
	all := map[id.ID]enrolled{}
	tx.Queue(`SELECT contact_id, sequence_id = $3, ended_at IS NULL FROM enrolment WHERE org_id = $1
		AND contact_id = ANY ($2::uuid[])`, tx.Org(), contacts, e.Sequence).Query(func(rows pgx.Rows) error {
		var (
			contact   id.ID
			own, open bool
		)
		_, err := pgx.ForEachRow(rows, []any{&contact, &own, &open}, func() error {
			is := all[contact]
			is.open = is.open || own && open
			is.elsewhere = is.elsewhere || !own && open
			is.before = is.before || own && !open
			all[contact] = is
			return nil
		})
		return err
	})

	return all
}

// markSuppressed sets the reason of the contacts whose address or domain is suppressed.
func (e *enroller) markSuppressed(ctx context.Context, tx *postgres.Tx, all []*candidate) error {
	addresses := make([]string, len(all))
	for i, c := range all {
		addresses[i] = c.email
	}
	found, err := e.Suppressions.FindAll(ctx, tx, addresses)
	if err != nil {
		return err
	}

	for i, c := range all {
		if found[i] {
			c.reason = SuppressedOne
		}
	}

	return nil
}
