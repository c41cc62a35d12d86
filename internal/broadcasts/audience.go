package broadcasts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

// Reasons for which a contact of the audience gets no mail.
const (
	noEmail        = "no_email"
	noConsent      = "no_consent"
	blockedCountry = "blocked_country"
	suppressed     = "suppressed"
	mergeMissing   = "merge_missing"
	archived       = "archived"
	alreadySent    = "already_sent" // another contact had the address before
)

// piece is how many contacts of an audience are read at once, and stretch how many of the org for that at most.
const (
	piece   = 4000
	stretch = 5 * piece
)

// reader reads an audience in the order of the contacts' creation.
type reader struct {
	*Broadcast
	suppressions *suppression.Service
	settings     *orgsending.Settings
	until        time.Time // contacts created later are not read
	afterAt      *time.Time
	afterID      *id.ID
	more         bool // next has not come to the last contact
}

// member is a contact of an audience.
type member struct {
	id          id.ID
	email       string
	zone        string
	country     *string
	unconfirmed bool // it was asked for its consent, and has not confirmed it
	createdAt   time.Time
	reason      string // why it gets no mail; "": it gets it
}

// membersSQL reads contacts $2 of org $1 by their keys.
const membersSQL = `
SELECT c.id, c.email, coalesce(c.time_zone, ''), c.country, c.consent ->> 'confirmed_at' IS NULL
		AND EXISTS (SELECT FROM consent_request r WHERE r.org_id = $1 AND r.contact_id = c.id), c.created_at
FROM unnest($2::uuid[]) AS m (id)
CROSS JOIN LATERAL (SELECT * FROM contact WHERE org_id = $1 AND id = m.id LIMIT 1) AS c ORDER BY c.created_at, c.id`

// readNext returns the next contacts of the audience, and sets more. There may be more though it returns none: those of
// a filter are sought in a bounded stretch of the org's contacts.
func (r *reader) readNext(ctx context.Context, tx *postgres.Tx) ([]*member, error) {
	var after *contacts.CreatedPlace
	if r.afterAt != nil {
		after = &contacts.CreatedPlace{At: *r.afterAt, ID: *r.afterID}
	}
	found, next, err := r.readSelected(ctx, tx, after)
	if err != nil {
		return nil, err
	}

	if r.more = next != nil; r.more {
		r.afterAt, r.afterID = &next.At, &next.ID
	}
	ids := make([]id.ID, len(found))
	for i, c := range found {
		ids[i] = c.ID
	}

	rows, err := tx.Query(ctx, membersSQL, tx.Org(), ids)
	if err != nil {
		return nil, fmt.Errorf("read audience: %w", err)
	}

	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*member, error) {
		m := &member{}
		return m, row.Scan(&m.id, &m.email, &m.zone, &m.country, &m.unconfirmed, &m.createdAt)
	})
	if err != nil {
		return nil, fmt.Errorf("read audience: %w", err)
	}

	return all, r.setReasons(ctx, tx, all)
}

// readSelected returns the next contacts after a place, and the place that it has come to, nil after the last contact.
func (r *reader) readSelected(ctx context.Context, tx *postgres.Tx, after *contacts.CreatedPlace) (
	found []contacts.CreatedPlace, next *contacts.CreatedPlace, err error,
) {
	if r.Segment != nil {
		return contacts.NextMembers(ctx, tx, *r.Segment, after, r.until, piece)
	}
	raw, err := json.Marshal(r.Filter)
	if err != nil {
		return nil, nil, fmt.Errorf("encode filter: %w", err)
	}
	where, err := contacts.ParseFilter(ctx, tx, raw)
	if err != nil {
		return nil, nil, err
	}
	return contacts.NextSelected(ctx, tx, &contacts.Filter{Where: where}, after, r.until, stretch, piece)
}

// setReasons sets the reasons of the contacts that get no mail.
func (r *reader) setReasons(ctx context.Context, tx *postgres.Tx, all []*member) error {
	var sendable []*member
	var addresses []string
	for _, m := range all {
		switch {
		case !strings.Contains(m.email, "@"):
			m.reason = noEmail
		case m.unconfirmed:
			m.reason = noConsent
		case r.settings.Blocks(m.country):
			m.reason = blockedCountry
		default:
			sendable, addresses = append(sendable, m), append(addresses, m.email)
		}
	}
	found, err := r.suppressions.FindAll(ctx, tx, addresses)
	if err != nil {
		return err
	}

	for i, m := range sendable {
		if found[i] {
			m.reason = suppressed
		}
	}

	return nil
}

// AudienceCount is how many contacts a broadcast would reach.
type AudienceCount struct {
	Total    int            `json:"total" doc:"Contacts of the audience"`
	Sendable int            `json:"sendable" doc:"Contacts among them that would get the mail"`
	LeftOut  map[string]int `json:"left_out" doc:"Contacts among them that would not, by reason"`
}

// Preview counts the audience as it is now. tx must be able to write: an org's key is created with its first use.
func (s *Service) Preview(ctx context.Context, tx *postgres.Tx, i id.ID) (*AudienceCount, error) {
	row, err := Get(ctx, tx, i, false)
	if err != nil {
		return nil, err
	}
	out := &AudienceCount{LeftOut: map[string]int{}}
	if row.Value.Segment == nil && row.Value.Filter == nil {
		return out, nil
	}

	r, err := s.newReader(ctx, tx, &row.Value, time.Now())
	if err != nil {
		return nil, err
	}

	for {
		all, err := r.readNext(ctx, tx)
		if err != nil {
			return nil, err
		}
		for _, m := range all {
			if out.Total++; m.reason == "" {
				out.Sendable++
			} else {
				out.LeftOut[m.reason]++
			}
		}
		if !r.more {
			return out, nil
		}
	}
}

func (s *Service) newReader(ctx context.Context, tx *postgres.Tx, b *Broadcast, until time.Time) (*reader, error) {
	settings, err := orgsending.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	return &reader{Broadcast: b, suppressions: s.Emails.Suppressions, settings: settings, until: until}, nil
}
