package enrolments_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// office is an org with a mailbox without limits, an engine, and the mails that the engine has enqueued.
type office struct {
	*testing.T
	*testkit.Database
	mu      sync.Mutex // guards sql and mails
	sql     *pgx.Conn
	org     id.ID
	mailbox id.ID
	emails  *emails.Service
	enrol   *enrolments.Service
	engine  *enrolments.Engine
	mails   []id.ID
}

func open(t *testing.T) *office {
	t.Helper()
	return openOn(t, testkit.DB(t))
}

func openOn(t *testing.T, db *testkit.Database) *office {
	t.Helper()
	box := testkit.Box(t)
	o := &office{T: t, Database: db, sql: testkit.Pgx(t, db.URL), org: id.New()}
	stops := &suppression.Service{Box: box}
	o.enrol = &enrolments.Service{Suppressions: stops}
	o.emails = &emails.Service{Box: box, Mailboxes: &mailboxes.Service{Box: box}, Suppressions: stops}
	model := scoring.Shipped()
	o.engine = &enrolments.Engine{
		Emails: o.emails, Templates: &templates.Service{Box: box, PublicURL: "https://shop.test"},
		Log:     slog.New(slog.DiscardHandler),
		Model:   func(context.Context, *postgres.Tx) (*scoring.Model, error) { return model, nil },
		Changed: func(context.Context, *postgres.Tx, []contacts.Change) error { return nil },
		Send: func(_ context.Context, _ *postgres.Tx, email, _ id.ID) error {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.mails = append(o.mails, email)
			return nil
		},
	}
	o.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, o.org)
	o.mailbox = o.box("hello@shop.example")
	return o
}

func (o *office) box(address string) id.ID {
	o.Helper()
	i := id.New()
	o.exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status,
		daily_cap, gap_min,
			gap_max, time_zone, created_at, updated_at)
		VALUES ($1, $2, 'Box', 'sandbox', $3, $3, 'shop.example', 'active', NULL, 0, 0, 'Europe/Berlin', now(), now())`,
		o.org, i, address)
	return i
}

func (o *office) exec(sql string, args ...any) {
	o.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.sql.Exec(context.WithoutCancel(o.Context()), sql, args...); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
}

// one returns the text of the only column of the only row.
func (o *office) one(sql string, args ...any) string {
	o.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	var s *string
	err := o.sql.QueryRow(o.Context(), "SELECT ("+sql+")::text", args...).Scan(&s)
	if err != nil {
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

// person inserts a contact.
func (o *office) person(email string) id.ID {
	o.Helper()
	i := id.New()
	o.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
		created_at, updated_at) VALUES ($1, $2, $3, $3, 'Ada', 'Lovelace', 'lovelace', 'lead', now(), now())`, o.org, i,
		email)
	o.exec(`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, segments,
		scored_at)
		VALUES ($1, $2, 0, 0, 'test', 'prior', 0, '{}', now())`, o.org, i)
	return i
}

func (o *office) people(n int) []id.ID {
	o.Helper()
	all := make([]id.ID, n)
	for i := range all {
		all[i] = o.person(fmt.Sprintf("person%d@example.com", i))
	}
	return all
}

// always is a schedule whose window never closes.
func always() sequences.Schedule {
	return sequences.Schedule{
		TimeZone: "UTC", Days: []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, From: "00:00", To: "24:00",
		Holidays: []string{},
	}
}

// sequence inserts an active sequence. change, which may be nil, changes its settings.
func (o *office) sequence(change func(*sequences.Settings), list ...steps.Step) id.ID {
	o.Helper()
	s := sequences.Settings{
		MailboxIDs: []id.ID{o.mailbox}, Rotation: "sticky", Schedule: always(), Exclusive: true, LateAfterHours: 24,
		StopOn: sequences.StopOn{Reply: true, DealWon: true},
	}
	if change != nil {
		change(&s)
	}
	steps.Complete(list)
	i := id.New()
	o.exec(`INSERT INTO sequence (org_id, id, name, name_folded, status, version, latest, created_at, updated_at)
		VALUES ($1, $2, 'Welcome', 'welcome', 'active', 1, 1, now(), now())`, o.org, i)
	o.exec(`INSERT INTO sequence_version (org_id, sequence_id, number, settings, created_at, activated_at)
		VALUES ($1, $2, 1, $3, now(), now())`, o.org, i, encoded(o.T, s))
	for n, step := range list {
		o.exec(`INSERT INTO sequence_step (org_id, sequence_id, version, position, key, kind, body)
			VALUES ($1, $2, 1, $3, $4, $5, $6)`, o.org, i, n, step.Key, step.Kind, encoded(o.T, step))
	}
	return i
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// mail is an email step, some days after the step before.
func mail(key string, days int) steps.Step {
	return steps.Step{
		Key: key, Kind: steps.KindEmail, Delay: schedule.Delay{Value: days, Unit: schedule.Days},
		Email: &steps.Email{Subject: "Hello", Text: "Hello {{ contact.first_name }}, " + key, Thread: steps.NewThread},
	}
}

// put enrols contacts and returns the results.
func (o *office) put(sequence id.ID, all ...id.ID) (out []enrolments.Result) {
	o.Helper()
	o.must(func(ctx context.Context, tx *postgres.Tx) (err error) {
		out, err = o.enrol.Enrol(ctx, tx, &enrolments.Request{Sequence: sequence, By: "user/1"}, all)
		return err
	})
	return out
}

// enrolled enrols a contact and returns its enrolment.
func (o *office) enrolled(sequence, contact id.ID) id.ID {
	o.Helper()
	r := o.put(sequence, contact)[0]
	if r.EnrolmentID == nil {
		o.Fatalf("not enrolled: %s", *r.Reason)
	}
	return *r.EnrolmentID
}

func (o *office) tick() {
	o.Helper()
	o.must(o.engine.Tick)
}

// begun takes the next mail for a run; nil: it is not to be sent any more.
func (o *office) begun() *emails.Outgoing {
	o.Helper()
	o.mu.Lock()
	if len(o.mails) == 0 {
		o.mu.Unlock()
		return nil
	}
	email := o.mails[0]
	o.mails = o.mails[1:]
	o.mu.Unlock()
	out, err := o.emails.Begin(o.Context(), o.App, o.org, email, id.New())
	if err != nil {
		o.Fatal(err)
	}
	return out
}

func (o *office) mark(out *emails.Outgoing) error {
	return o.emails.Mark(o.Context(), o.App, out, []byte("mime"), "true")
}

// deliver sends the mails that are enqueued, and returns how many were sent.
func (o *office) deliver() (sent int) {
	o.Helper()
	for len(o.mails) > 0 {
		out := o.begun()
		if out == nil {
			continue
		}
		if err := o.mark(out); err != nil {
			if refusal(err) == nil {
				o.Fatal(err)
			}
			continue
		}
		o.accept(out)
		sent++
	}
	return sent
}

// transmitting enrols a contact in a sequence of two mails, the second one some days after the first one, which is
// marked.
func (o *office) transmitting(days int) (contact, enrolment id.ID, out *emails.Outgoing) {
	o.Helper()
	contact = o.person("ada@example.com")
	enrolment = o.enrolled(o.sequence(nil, mail("first", 0), mail("second", days)), contact)
	o.tick()
	out = o.begun()
	if err := o.mark(out); err != nil {
		o.Fatal(err)
	}
	return contact, enrolment, out
}

func (o *office) accept(out *emails.Outgoing) {
	o.Helper()
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		return out.Accept(ctx, tx, transport.Reply{Code: 250, Text: "queued"})
	})
}

func refusal(err error) *emails.RefusedError {
	r, _ := errors.AsType[*emails.RefusedError](err)
	return r
}

// state returns the state of an enrolment, its step and its reason.
func (o *office) state(enrolment id.ID) string {
	o.Helper()
	return o.one(`SELECT concat_ws(' ', state, step, nullif(reason, '')) FROM enrolment WHERE id = $1`, enrolment)
}

// history returns the transitions of an enrolment: from>to, step and cause.
func (o *office) history(enrolment id.ID) string {
	o.Helper()
	var all []string
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		found, err := enrolments.History(ctx, tx, enrolment)
		for _, h := range found {
			from := ""
			if h.From != nil {
				from = *h.From
			}
			all = append(all, fmt.Sprintf("%s>%s %s %s", from, h.To, h.StepKey, h.Cause))
		}
		return err
	})
	return strings.Join(all, ", ")
}

// announced returns the types of the events about sequences, in order.
func (o *office) announced() string {
	o.Helper()
	return o.one(`SELECT string_agg(substring(type FROM 10), ' ' ORDER BY id) FROM event WHERE type LIKE 'sequence.%'`)
}

// passes moves the times of the org's rows back, as if d had passed.
func (o *office) passes(d time.Duration) {
	o.Helper()
	for _, sql := range []string{
		`UPDATE enrolment SET due_at = due_at - $1::interval, kept_due_at = kept_due_at - $1::interval,
			resume_at = resume_at - $1::interval, until_at = until_at - $1::interval,
			started_at = started_at - $1::interval, ended_at = ended_at - $1::interval`,
		`UPDATE send_group SET wake_at = wake_at - $1::interval`,
		`UPDATE schedule_zone SET opens_at = opens_at - $1::interval, closes_at = closes_at - $1::interval`,
		`UPDATE email SET marked_at = marked_at - $1::interval, due_at = due_at - $1::interval`,
	} {
		o.exec(sql, d)
	}
}
