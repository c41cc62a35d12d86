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

// candidates reads the contacts, and why those that cannot be enrolled cannot.
func (e *enroller) candidates(ctx context.Context, tx *postgres.Tx, contacts []id.ID) (map[id.ID]*candidate, error) {
	rows, err := tx.Query(ctx, `
		SELECT c.id, c.email, coalesce(c.time_zone, ''), coalesce(c.country, ''), c.archived_at IS NOT NULL,
			c.consent ->> 'confirmed_at' IS NULL AND EXISTS (SELECT FROM consent_request r WHERE r.org_id = $1
				AND r.contact_id = c.id),
			coalesce(bool_or(n.sequence_id = $3 AND n.ended_at IS NULL), false),
			coalesce(bool_or(n.sequence_id <> $3 AND n.ended_at IS NULL), false),
			coalesce(bool_or(n.sequence_id = $3 AND n.ended_at IS NOT NULL), false)
		FROM contact c LEFT JOIN enrolment n ON n.org_id = $1 AND n.contact_id = c.id
		WHERE c.org_id = $1 AND c.id = ANY ($2::uuid[]) GROUP BY c.org_id, c.id`, tx.Org(), contacts, e.Sequence)
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	out := make(map[id.ID]*candidate, len(contacts))
	var sendable []*candidate
	var (
		c                                 candidate
		archived, open, elsewhere, before bool
	)
	if _, err := pgx.ForEachRow(rows, []any{
		&c.id, &c.email, &c.zone, &c.country, &archived, &c.unconfirmed, &open, &elsewhere, &before,
	}, func() error {
		one := c
		switch {
		case archived:
			one.reason = Archived
		case !strings.Contains(one.email, "@"):
			one.reason = NoEmail
		case open:
			one.reason = AlreadyOpen
		case elsewhere && e.version.Exclusive:
			one.reason = ActiveElsewhere
		case before && !e.version.AllowReenroll:
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
	return out, e.suppressed(ctx, tx, sendable)
}

// suppressed sets the reason of the contacts whose address or domain is suppressed.
func (e *enroller) suppressed(ctx context.Context, tx *postgres.Tx, all []*candidate) error {
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
