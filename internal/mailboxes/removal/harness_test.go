package removal_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/mailboxes/removal"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// office is an org with two mailboxes, and the jobs that a removal has added.
type office struct {
	*testing.T
	*testkit.Database
	sql            *pgx.Conn
	emails         *emails.Service
	enrol          *enrolments.Service
	service        *removal.Service
	org, box, heir id.ID
	jobs           []id.ID
}

func open(t *testing.T) *office {
	t.Helper()
	db, box := testkit.DB(t), testkit.Box(t)
	stops := &suppression.Service{Box: box}
	o := &office{
		T: t, Database: db, sql: testkit.Pgx(t, db.URL), org: id.New(), enrol: &enrolments.Service{Suppressions: stops},
		emails: &emails.Service{
			Box: box, Mailboxes: &mailboxes.Service{Box: box}, Suppressions: stops, InboundDomain: "in.shop.example",
		},
	}
	o.service = &removal.Service{
		Emails: o.emails,
		Send: func(_ context.Context, _ *postgres.Tx, email, _ id.ID, _ bool, _ time.Time) error {
			o.jobs = append(o.jobs, email)
			return nil
		},
	}
	o.exec(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, o.org)
	o.box, o.heir = o.mailbox("old@shop.example"), o.mailbox("new@shop.example")
	return o
}

func (o *office) exec(sql string, args ...any) {
	o.Helper()
	if _, err := o.sql.Exec(o.Context(), sql, args...); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
}

// text returns the text of the only column of the only row.
func (o *office) text(sql string, args ...any) string {
	o.Helper()
	var s *string
	if err := o.sql.QueryRow(o.Context(), "SELECT ("+sql+")::text", args...).Scan(&s); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
	if s == nil {
		return ""
	}
	return *s
}

func (o *office) tx(fn func(ctx context.Context, tx *postgres.Tx) error) error {
	ctx := context.WithoutCancel(o.Context())
	return o.App.Tx(ctx, o.org, func(tx *postgres.Tx) error { return fn(ctx, tx) })
}

func (o *office) must(fn func(ctx context.Context, tx *postgres.Tx) error) {
	o.Helper()
	if err := o.tx(fn); err != nil {
		o.Fatal(err)
	}
}

func (o *office) mailbox(address string) id.ID {
	o.Helper()
	i := id.New()
	o.exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, from_name, status,
			daily_cap, gap_min, gap_max, time_zone, created_at, updated_at)
		VALUES ($1, $2, 'Box', 'sandbox', $3, $3, 'shop.example', 'Of ' || $3, 'active', NULL, 0, 0, 'UTC', now(),
			now())`, o.org, i, address)
	return i
}

// person inserts the contact ada@example.com.
func (o *office) person() id.ID {
	o.Helper()
	i := id.New()
	o.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
		created_at, updated_at) VALUES ($1, $2, 'ada@example.com', 'ada@example.com', 'Ada', 'L', 'l', 'lead', now(),
			now())`, o.org, i)
	o.exec(`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, segments,
		scored_at) VALUES ($1, $2, 0, 0, 'test', 'prior', 0, '{}', now())`, o.org, i)
	return i
}

// sequence inserts an active sequence of one mail that a mailbox sends.
func (o *office) sequence(name string, boxes ...id.ID) id.ID {
	o.Helper()
	i := id.New()
	o.exec(`INSERT INTO sequence (org_id, id, name, name_folded, status, version, latest, created_at, updated_at)
		VALUES ($1, $2, $3, lower($3), 'active', 1, 1, now(), now())`, o.org, i, name)
	o.exec(`INSERT INTO sequence_version (org_id, sequence_id, number, settings, created_at, activated_at)
		VALUES ($1, $2, 1, json_build_object('mailbox_ids', $3::uuid[], 'rotation', 'sticky', 'schedule',
			'{"time_zone":"UTC","days":["mon","tue","wed","thu","fri","sat","sun"],"from":"00:00","to":"24:00",
			"holidays":[]}'::json, 'late_after_hours', 24), now(), now())`, o.org, i, boxes)
	o.exec(`INSERT INTO sequence_step (org_id, sequence_id, version, position, key, kind, body)
		VALUES ($1, $2, 1, 0, 'first', 'email', '{"key":"first","kind":"email","delay":{"value":0,"unit":"days"},
			"email":{"subject":"Hello","text":"Hello","thread":"new"}}')`, o.org, i)
	return i
}

func (o *office) enrolled(sequence, contact id.ID) (enrolment id.ID, err error) {
	return enrolment, o.tx(func(ctx context.Context, tx *postgres.Tx) error {
		out, err := o.enrol.Enrol(ctx, tx, &enrolments.Request{Sequence: sequence}, []id.ID{contact})
		if err == nil && out[0].EnrolmentID != nil {
			enrolment = *out[0].EnrolmentID
		}
		return err
	})
}

// broadcast inserts a broadcast of the old mailbox.
func (o *office) broadcast(name, status string) id.ID {
	o.Helper()
	i := id.New()
	o.exec(`INSERT INTO broadcast (org_id, id, name, mailbox_id, mail, status, created_at, updated_at)
		VALUES ($1, $2, $3, $4, '{}', $5, now(), now())`, o.org, i, name, o.box, status)
	return i
}

// write creates an email from a mailbox to a contact.
func (o *office) write(box, contact id.ID) (email id.ID, err error) {
	return email, o.tx(func(ctx context.Context, tx *postgres.Tx) error {
		m, err := o.emails.Mailboxes.ForSending(ctx, tx, box)
		if err != nil {
			return err
		}
		full, err := o.emails.Create(ctx, tx, &emails.New{
			Mailbox: m, ContactID: contact, ToEmail: "ada@example.com", Subject: "Hello", Text: "Hello",
			Purpose: emails.Personal, ListUnsubscribe: []string{"https://api.example/t/u/1"},
		})
		if err == nil {
			email = full.ID
		}
		return err
	})
}

func (o *office) remove(to *id.ID) (changed bool, moved removal.Moved, err error) {
	return changed, moved, o.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		changed, moved, err = o.service.Remove(ctx, tx, o.box, to, nil)
		return err
	})
}

func (o *office) isLive(box id.ID) bool {
	o.Helper()
	return o.text(`SELECT archived_at IS NULL FROM mailbox WHERE id = $1`, box) == "true"
}
