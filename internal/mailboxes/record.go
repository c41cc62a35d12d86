package mailboxes

import (
	"context"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Mailbox is a mailbox as the API and the events show it.
type Mailbox = events.Mailbox

// stored is a row of the table. The members of Mailbox that Shown computes are empty in it.
type stored struct {
	Mailbox
	Computed int `json:"-"` // the ETag's second part

	folded, domain         string // of from_email
	smtp, imap             server
	smtpUser, imapUser     string
	smtpSecret, imapSecret []byte // sealed
	rampStart              *int
	rampStep               int
	zone                   string // time_zone
	reason                 string // status_reason

	verified, requested       *time.Time // verified_at, check_requested_at
	checkID                   string
	authRefusals              int
	refusals                  int        // of the sender, in a row
	refusalReply              string     // the last of them
	checkDetail, checkAction  string     // of the last failed test or sign-in
	slot                      *time.Time // next_slot_at of the row
	silence                   *silence   // nil: its servers respond
	full                      *time.Time // when the cap allows the next mail
	sent, bounced, complained int        // of health
}

const columns = `id, name, kind, from_email, from_folded, from_domain, from_name, reply_to, smtp_host, smtp_port,
	smtp_tls, smtp_username, smtp_password, imap_host, imap_port, imap_tls, imap_username, imap_password,
	social_account_id,
	daily_cap, gap_min, gap_max, rate_per_second, ramp_start, ramp_step, time_zone, track_opens, track_clicks,
	signature_html, owner_id, status, status_reason, held_until, verified_at, next_slot_at, check_id, checked_at,
	check_requested_at, sent_proof, auth_refusals, health_sent, health_bounced, health_complained, spf, dkim, dmarc,
	domain_checked_at, created_at, updated_at, archived_at, computed, refusals, refusal_reply, mailbox_sent(org_id, id),
	mailbox_full_until(org_id, id, daily_cap), mailbox_sync(org_id, id),
	mailbox_silent(org_id, id), check_detail, check_action`

var table = record.Table[stored]{
	Name: "mailbox", Absent: absent, Columns: columns,
	Scan: func(m *stored) []any {
		return []any{
			&m.ID, &m.Name, &m.Kind, &m.FromEmail, &m.folded, &m.domain, &m.FromName, &m.ReplyTo, &m.smtp.name,
			&m.smtp.port, &m.smtp.tls, &m.smtpUser, &m.smtpSecret, &m.imap.name, &m.imap.port, &m.imap.tls, &m.imapUser,
			&m.imapSecret, &m.SocialAccountID, &m.DailyCap, &m.GapSeconds.Min, &m.GapSeconds.Max, &m.RatePerSecond,
			&m.rampStart, &m.rampStep, &m.zone, &m.Tracking.Opens, &m.Tracking.Clicks, &m.SignatureHTML, &m.OwnerID,
			&m.Status, &m.reason, &m.HeldUntil, &m.verified, &m.slot, &m.checkID, &m.CheckedAt, &m.requested,
			&m.SentProof, &m.authRefusals, &m.sent, &m.bounced, &m.complained, &m.Domain.SPF, &m.Domain.DKIM,
			&m.Domain.DMARC, &m.Domain.CheckedAt, &m.CreatedAt, &m.UpdatedAt, &m.ArchivedAt, &m.Computed, &m.refusals,
			&m.refusalReply, &m.Sent24h, &m.full, &m.Sync, &m.silence,
			&m.checkDetail, &m.checkAction,
		}
	},
	Stamps: func(m *stored) (*wire.Time, **wire.Time) { return &m.UpdatedAt, &m.ArchivedAt },
}

// Shown returns the public form, with what is computed at the given time.
func (m *stored) Shown(now time.Time) Mailbox {
	out := m.Mailbox
	out.SMTP, out.IMAP, out.Ramp = shownServer(m.smtp, m.smtpUser), shownServer(m.imap, m.imapUser), nil
	if m.rampStart != nil {
		out.Ramp = &events.MailRamp{Start: *m.rampStart, Step: m.rampStep}
	}
	out.TimeZone, out.StatusReason = orNull(m.zone), orNull(m.reason)
	if m.heldOver(now) {
		out.Status, out.StatusReason, out.HeldUntil = Active, nil, nil
	}
	out.NextSlotAt = m.nextSlot(out.Status, now)
	m.setStatusReason(&out, m.full != nil && m.full.After(now))
	if m.sent > 0 {
		bounced, complained := float64(m.bounced)/float64(m.sent), float64(m.complained)/float64(m.sent)
		out.Health = events.MailboxHealth{BounceRate: &bounced, ComplaintRate: &complained}
	}

	return out
}

// heldOver reports whether a hold has ended that the sweep has not cleared yet.
func (m *stored) heldOver(now time.Time) bool {
	return m.Status == Held && m.HeldUntil != nil && !now.Before(m.HeldUntil.Time)
}

// nextSlot returns the end of whatever holds the next automated mail back; nil: nothing does.
func (m *stored) nextSlot(status string, now time.Time) *wire.Time {
	var at time.Time
	if m.slot != nil {
		at = *m.slot
	}
	if m.full != nil && m.full.After(at) {
		at = *m.full
	}
	if status == Held && m.HeldUntil != nil && m.HeldUntil.After(at) {
		at = m.HeldUntil.Time
	}
	if !at.After(now) || status == Unverified || status == Disabled || status == Held && m.HeldUntil == nil {
		return nil
	}

	next := wire.At(at)

	return &next
}

func shownServer(s server, user string) *events.MailServer {
	if s.name == "" {
		return nil
	}
	return &events.MailServer{Host: s.name, Port: s.port, TLS: s.tls, Username: user}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Versioned is a mailbox with the two parts of its ETag.
type Versioned struct {
	Mailbox
	Edit     int
	Computed int64
}

func versionedOf(r *record.Row[stored]) Versioned {
	now := time.Now()
	v := Versioned{Mailbox: r.Value.Shown(now), Edit: r.Edit}
	h := fnv.New32a()
	_, _ = h.Write([]byte(strconv.FormatInt(v.Sent24h, 10) + v.Status)) // never fails
	if v.NextSlotAt != nil {
		_, _ = h.Write([]byte(v.NextSlotAt.String()))
	}
	if v.Sync != nil {
		_, _ = fmt.Fprint(h, v.Sync.LastAt, v.Sync.NextAt, orEmpty(v.Sync.Error), v.Sync.Skipped)
	}
	if v.StatusReason != nil {
		_, _ = fmt.Fprint(h, *v.StatusReason, orEmpty(v.StatusDetail), v.NextSyncAt)
	}
	v.Computed = int64(r.Value.Computed)<<32 | int64(h.Sum32())

	return v
}

// Get returns one mailbox of the org. An archived one is returned only with archivedToo. The error is a not_found fault
// if there is none.
func (s *Service) Get(ctx context.Context, tx *postgres.Tx, mailbox id.ID, archivedToo bool) (Versioned, error) {
	row, err := table.Get(ctx, tx, mailbox, archivedToo)
	if err != nil {
		return Versioned{}, err
	}
	return versionedOf(&row), nil
}

// Filter narrows a list of mailboxes. An empty field matches everything.
type Filter struct {
	Kind, Status string
	Archived     bool
}

func (f Filter) listQuery(org id.ID) *record.Query {
	q := record.Where(org, f.Archived)
	if f.Kind != "" {
		q.And("kind = " + q.Arg(f.Kind))
	}
	if f.Status != "" {
		q.And("CASE WHEN status = 'held' AND held_until <= now() THEN 'active' ELSE status END = " + q.Arg(f.Status))
	}
	return q
}

var newest = record.Order[stored]{
	Column: "created_at", Type: "timestamptz", Down: true,
	Key: func(m *stored) string { return m.CreatedAt.String() },
}

// Position returns the position of a mailbox in a list.
func Position(v Versioned) record.Position {
	return record.Position{Key: v.CreatedAt.String(), ID: v.ID}
}

// List returns at most limit mailboxes, newest first, after a position.
func (s *Service) List(ctx context.Context, tx *postgres.Tx, f Filter, after *record.Position, limit int) ([]Versioned,
	error,
) {
	rows, err := table.List(ctx, tx, f.listQuery(tx.Org()), newest, after, limit)
	if err != nil {
		return nil, err
	}
	out := make([]Versioned, len(rows))
	for i := range rows {
		out[i] = versionedOf(&rows[i])
	}
	return out, nil
}

// Count returns the number of mailboxes that f matches.
func (s *Service) Count(ctx context.Context, tx *postgres.Tx, f Filter) (int64, error) {
	n, err := table.Count(ctx, tx, f.listQuery(tx.Org()))
	if err != nil {
		return 0, fmt.Errorf("count mailboxes: %w", err)
	}
	return n, nil
}
