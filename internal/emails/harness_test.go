package emails_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// office is an org with a mailbox and a contact.
type office struct {
	*testing.T
	*testkit.Database
	mu               sync.Mutex // guards sql
	emails           *emails.Service
	sql              *pgx.Conn
	org              id.ID
	mailbox, contact id.ID
}

func open(t *testing.T) *office {
	t.Helper()
	db, box := testkit.DB(t), testkit.Box(t)
	o := &office{
		T: t, Database: db, org: id.New(), mailbox: id.New(), sql: testkit.Pgx(t, db.URL),
		emails: &emails.Service{
			Box: box, Mailboxes: &mailboxes.Service{Box: box}, Suppressions: &suppression.Service{Box: box},
		},
	}
	o.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, o.org)
	o.exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, created_at,
		updated_at) VALUES ($1, $2, 'Box', 'sandbox', 'hello@shop.example', 'hello@shop.example', 'shop.example',
		'active', now(), now())`, o.org, o.mailbox)
	o.contact = o.person("ada@example.com")
	return o
}

func (o *office) person(email string) id.ID {
	o.Helper()
	i := id.New()
	o.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
		created_at, updated_at) VALUES ($1, $2, $3, $3, 'Ada', 'Lovelace', 'lovelace', 'lead', now(), now())`, o.org, i,
		email)
	return i
}

func (o *office) exec(sql string, args ...any) {
	o.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.sql.Exec(o.Context(), sql, args...); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
}

func (o *office) tx(fn func(tx *postgres.Tx) error) error {
	return o.App.Tx(context.WithoutCancel(o.Context()), o.org, fn)
}

func (o *office) must(fn func(tx *postgres.Tx) error) {
	o.Helper()
	if err := o.tx(fn); err != nil {
		o.Fatal(err)
	}
}

// write creates an email to the contact. change, which may be nil, changes it before.
func (o *office) write(change func(*emails.New)) (*emails.Full, error) {
	o.Helper()
	var full *emails.Full
	err := o.tx(func(tx *postgres.Tx) error {
		m, err := o.emails.Mailboxes.ForSending(o.Context(), tx, o.mailbox)
		if err != nil {
			return err
		}
		n := &emails.New{
			Mailbox: m, ContactID: o.contact, ToEmail: "ada@example.com", ToName: "Ada Lovelace", Subject: "Hello",
			Purpose: emails.Personal, Text: "Hello Ada", HTML: "<p>Hello Ada</p>",
		}
		if change != nil {
			change(n)
		}
		full, err = o.emails.Create(o.Context(), tx, n)
		return err
	})
	return full, err
}

// written is write without failure.
func (o *office) written(change func(*emails.New)) id.ID {
	o.Helper()
	full, err := o.write(change)
	if err != nil {
		o.Fatal(err)
	}
	return full.ID
}

// begun takes an email for a new run.
func (o *office) begun(email id.ID) *emails.Outgoing {
	o.Helper()
	out, err := o.emails.Begin(o.Context(), o.App, o.org, email, id.New())
	if err != nil {
		o.Fatal(err)
	}
	return out
}

func (o *office) mark(out *emails.Outgoing) error {
	return o.emails.Mark(o.Context(), o.App, out, []byte("mime"), "true")
}

func (o *office) marked(email id.ID) *emails.Outgoing {
	o.Helper()
	out := o.begun(email)
	if out == nil {
		o.Fatal("the email was not taken")
	}
	if err := o.mark(out); err != nil {
		o.Fatal(err)
	}
	return out
}

// status returns the status of an email and its reason.
func (o *office) status(email id.ID) string {
	o.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	var s string
	if err := o.sql.QueryRow(o.Context(), `SELECT status || coalesce(' ' || nullif(status_reason, ''), '') FROM email
		WHERE id = $1`, email).Scan(&s); err != nil {
		o.Fatal(err)
	}
	return s
}

// events returns how many events of a type there are.
func (o *office) events(kind string) (n int) {
	o.Helper()
	if err := o.sql.QueryRow(o.Context(), `SELECT count(*) FROM event WHERE type = $1`, kind).Scan(&n); err != nil {
		o.Fatal(err)
	}
	return n
}

// passes moves the times of the org's emails back, as if d had passed.
func (o *office) passes(d time.Duration) {
	o.Helper()
	o.exec(`UPDATE email SET marked_at = marked_at - $2::interval, due_at = due_at - $2::interval,
		scheduled_at = scheduled_at - $2::interval WHERE org_id = $1`, o.org, d)
}

// until waits until a query is true. Postgres waits between two looks.
func (o *office) until(sql string) {
	o.Helper()
	for {
		var ok bool
		if err := o.sql.QueryRow(o.Context(), `SELECT (`+sql+`) FROM pg_sleep(0.01)`).Scan(&ok); err != nil {
			o.Fatal(err)
		}
		if ok {
			return
		}
	}
}
