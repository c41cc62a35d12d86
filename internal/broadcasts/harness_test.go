package broadcasts_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/broadcasts"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// house is an org with a sandbox mailbox and a postal address.
type house struct {
	*testing.T
	*testkit.Database
	sql          *pgx.Conn
	service      *broadcasts.Service
	org, mailbox id.ID
	prepared     []int             // runs whose job was added
	sent         map[id.ID]int     // jobs of emails
	at           map[int]time.Time // when the job of a run is due
}

func open(t *testing.T) *house {
	t.Helper()
	db, box := testkit.DB(t), testkit.Box(t)
	h := &house{
		T: t, Database: db, sql: testkit.Pgx(t, db.URL), org: id.New(), mailbox: id.New(), sent: map[id.ID]int{},
		at: map[int]time.Time{},
	}
	h.service = &broadcasts.Service{
		Emails: &emails.Service{
			Box: box, Mailboxes: &mailboxes.Service{Box: box}, Suppressions: &suppression.Service{Box: box},
			PublicURL: "https://api.example",
		},
		Templates: &templates.Service{Box: box, PublicURL: "https://api.example"},
		Prepare: func(_ context.Context, _ *postgres.Tx, _ id.ID, run int, at time.Time) error {
			h.prepared, h.at[run] = append(h.prepared, run), at
			return nil
		},
		Send: func(_ context.Context, _ *postgres.Tx, email, _ id.ID) error {
			h.sent[email]++
			return nil
		},
	}
	h.exec(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, h.org)
	h.exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, gap_min, gap_max,
		created_at, updated_at) VALUES ($1, $2, 'Box', 'sandbox', 'hello@shop.example', 'hello@shop.example',
		'shop.example', 'active', 0, 0, now(), now())`, h.org, h.mailbox)
	h.settings(orgsending.Patch{PostalAddress: wire.Some("Shop\n1 High Street\nBerlin")})
	return h
}

func (h *house) settings(p orgsending.Patch) {
	h.Helper()
	h.must(func(tx *postgres.Tx) error {
		_, _, err := orgsending.Update(h.Context(), tx, &p, func(*orgsending.Settings) error { return nil })
		return err
	})
}

func (h *house) exec(sql string, args ...any) {
	h.Helper()
	if _, err := h.sql.Exec(h.Context(), sql, args...); err != nil {
		h.Fatalf("%s: %v", sql, err)
	}
}

func (h *house) count(from string) (n int) {
	h.Helper()
	if err := h.sql.QueryRow(h.Context(), `SELECT count(*) FROM `+from).Scan(&n); err != nil {
		h.Fatal(err)
	}
	return n
}

func (h *house) tx(fn func(tx *postgres.Tx) error) error {
	return h.App.Tx(context.WithoutCancel(h.Context()), h.org, fn)
}

func (h *house) must(fn func(tx *postgres.Tx) error) {
	h.Helper()
	if err := h.tx(fn); err != nil {
		h.Fatal(err)
	}
}

// people inserts n contacts.
func (h *house) people(n int) {
	h.Helper()
	h.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
			created_at, updated_at)
		SELECT $1, gen_random_uuid(), 'p' || g || '@example.com', 'p' || g || '@example.com', 'Ada' || g, 'L', 'l',
			'lead', now() - g * interval '1 second', now() FROM generate_series(1, $2) g`, h.org, n)
	h.exec(`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, segments,
			scored_at)
		SELECT org_id, id, 0, 0, 'test', 'prior', 0, '{}', now() FROM contact WHERE org_id = $1`, h.org)
}

// everybody is a filter that all contacts of a test match.
var everybody = map[string]any{"field": "stage", "op": "eq", "value": "lead"}

// draft creates a draft. change, which may be nil, changes its patch before.
func (h *house) draft(change func(*broadcasts.Patch)) broadcasts.Row {
	h.Helper()
	p := broadcasts.Patch{
		Name: wire.Some("News"), MailboxID: wire.Some(h.mailbox.String()), Filter: wire.Some(everybody),
		Email: wire.Some(broadcasts.MailPatch{
			Subject: wire.Some("News for {{ contact.first_name }}"),
			HTML:    wire.Some(`<p>Hi</p><a href="{{ unsubscribe_url }}">Unsubscribe</a>`),
			Text:    wire.Some("Hi\n{{ unsubscribe_url }}"),
		}),
	}
	if change != nil {
		change(&p)
	}
	var row broadcasts.Row
	h.must(func(tx *postgres.Tx) (err error) {
		row, err = broadcasts.Create(h.Context(), tx, &p, "user/1")
		return err
	})
	return row
}

// act makes a change of a broadcast.
func (h *house) act(fn func(tx *postgres.Tx) (broadcasts.Row, error)) (row broadcasts.Row, err error) {
	return row, h.tx(func(tx *postgres.Tx) (err error) {
		row, err = fn(tx)
		return err
	})
}

func (h *house) schedule(i id.ID, at *wire.Time) (broadcasts.Row, error) {
	return h.act(func(tx *postgres.Tx) (broadcasts.Row, error) {
		return h.service.Schedule(h.Context(), tx, i, at)
	})
}

// change pauses, resumes or cancels a broadcast.
func (h *house) change(i id.ID, do func(*broadcasts.Service, context.Context, *postgres.Tx, id.ID) (broadcasts.Row,
	error),
) broadcasts.Row {
	h.Helper()
	row, err := h.act(func(tx *postgres.Tx) (broadcasts.Row, error) { return do(h.service, h.Context(), tx, i) })
	if err != nil {
		h.Fatal(err)
	}
	return row
}

// step makes one step of the last run.
func (h *house) step(i id.ID) (next broadcasts.Next) {
	h.Helper()
	h.must(func(tx *postgres.Tx) (err error) {
		next, err = h.service.Step(h.Context(), tx, i, h.prepared[len(h.prepared)-1], 0)
		return err
	})
	return next
}

// settle makes every step that is due at once.
func (h *house) settle(i id.ID) broadcasts.Next {
	h.Helper()
	for {
		if next := h.step(i); !next.More || next.At.After(time.Now()) {
			return next
		}
	}
}

func (h *house) get(i id.ID) (b broadcasts.Broadcast) {
	h.Helper()
	h.must(func(tx *postgres.Tx) error {
		row, err := broadcasts.Get(h.Context(), tx, i, true)
		b = row.Value
		return err
	})
	return b
}

// codes returns the pointers and codes of a fault, or its code.
func codes(err error) (all []string) {
	f := fault.Of(err)
	if f == nil {
		return nil
	}
	if len(f.Fields) == 0 {
		return []string{string(f.Code)}
	}
	for _, w := range f.Fields {
		all = append(all, w.Pointer+" "+w.Code)
	}
	return all
}
