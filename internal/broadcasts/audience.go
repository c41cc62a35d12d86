package broadcasts

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
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

// piece is how many contacts of an audience are read at once.
const piece = 4000

// reader reads an audience in the order of the contacts' creation.
type reader struct {
	*Broadcast
	suppressions *suppression.Service
	settings     *orgsending.Settings
	until        time.Time // contacts created later are not read
	afterAt      *time.Time
	afterID      *id.ID
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

const memberColumns = `SELECT m.id, c.email, coalesce(c.time_zone, ''), c.country,
	c.consent ->> 'confirmed_at' IS NULL AND EXISTS (SELECT FROM consent_request r WHERE r.org_id = $1
		AND r.contact_id = c.id), m.created_at
FROM (`

// next returns the next contacts of the audience; none after the last.
func (r *reader) next(ctx context.Context, tx *postgres.Tx) ([]*member, error) {
	sql, args, key, err := r.selecting(ctx, tx)
	if err != nil {
		return nil, err
	}
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	sql += ` AND c.created_at <= ` + arg(r.until)
	if r.afterAt != nil {
		sql += ` AND (c.created_at, ` + key + `) > (` + arg(*r.afterAt) + `, ` + arg(*r.afterID) + `)`
	}
	sql = memberColumns + sql + ` ORDER BY c.created_at, ` + key + ` LIMIT ` + arg(piece) + `) m
		JOIN contact c ON c.org_id = $1 AND c.id = m.id ORDER BY m.created_at, m.id`
	rows, err := tx.Query(ctx, sql, args...)
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
	if n := len(all); n > 0 {
		r.afterAt, r.afterID = &all[n-1].createdAt, &all[n-1].id
	}
	return all, r.judge(ctx, tx, all)
}

// selecting returns a statement that selects id and created_at of the contacts, and the column of the id.
func (r *reader) selecting(ctx context.Context, tx *postgres.Tx) (sql string, args []any, key string, err error) {
	if r.Segment != nil {
		return `SELECT c.contact_id AS id, c.created_at FROM segment_member c WHERE c.org_id = $1 AND c.segment_id = $2
			AND NOT c.archived`, []any{tx.Org(), *r.Segment}, "c.contact_id", nil
	}
	raw, err := json.Marshal(r.Filter)
	if err != nil {
		return "", nil, "", fmt.Errorf("encode filter: %w", err)
	}
	f, err := contacts.ParseFilter(ctx, tx, raw)
	if err != nil {
		return "", nil, "", err
	}
	sql, args = contacts.Selecting(tx.Org(), &contacts.Filter{Where: f})
	return sql, args, "c.id", nil
}

// judge sets the reasons of the contacts that get no mail.
func (r *reader) judge(ctx context.Context, tx *postgres.Tx, all []*member) error {
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
	r, err := s.reader(ctx, tx, &row.Value, time.Now())
	if err != nil {
		return nil, err
	}
	for {
		all, err := r.next(ctx, tx)
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
		if len(all) < piece {
			return out, nil
		}
	}
}

func (s *Service) reader(ctx context.Context, tx *postgres.Tx, b *Broadcast, until time.Time) (*reader, error) {
	settings, err := orgsending.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	return &reader{Broadcast: b, suppressions: s.Emails.Suppressions, settings: settings, until: until}, nil
}
