package mailboxes_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// office is an org and the service of its mailboxes.
type office struct {
	*testing.T
	*testkit.Database
	sql   *pgx.Conn
	boxes *mailboxes.Service
	org   id.ID
}

func open(t *testing.T) *office {
	t.Helper()
	db := testkit.DB(t)
	o := &office{
		T: t, Database: db, sql: testkit.Pgx(t, db.URL), boxes: &mailboxes.Service{Box: testkit.Box(t)}, org: id.New(),
	}
	o.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, o.org)
	return o
}

func (o *office) exec(sql string, args ...any) {
	o.Helper()
	if _, err := o.sql.Exec(o.Context(), sql, args...); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
}

func (o *office) scan(sql string, to any, args ...any) {
	o.Helper()
	if err := o.sql.QueryRow(o.Context(), sql, args...).Scan(to); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
}

func (o *office) tx(fn func(tx *postgres.Tx) error) error { return o.App.Tx(o.Context(), o.org, fn) }

func (o *office) must(fn func(tx *postgres.Tx) error) {
	o.Helper()
	if err := o.tx(fn); err != nil {
		o.Fatal(err)
	}
}

// patch returns the patch of a mailbox of kind smtp with a password.
func patch() mailboxes.Patch {
	return mailboxes.Patch{
		Kind: wire.Some(mailboxes.SMTP), FromEmail: wire.Some("Ada@Shop.example"),
		SMTP: wire.Some(mailboxes.ServerPatch{
			Host: wire.Some("smtp.shop.example"), Username: wire.Some("ada"),
			Password: wire.Some(secret.Text("hunter2")),
		}),
	}
}

func none[T any]() wire.Field[T] { return wire.Field[T]{Set: true, Null: true} }

// create creates a mailbox of kind smtp. change, which may be nil, changes its patch before.
func (o *office) create(change func(*mailboxes.Patch)) (v mailboxes.Versioned, err error) {
	p := patch()
	if change != nil {
		change(&p)
	}
	return v, o.tx(func(tx *postgres.Tx) (err error) {
		v, _, err = o.boxes.Create(o.Context(), tx, &p, refuseAccount)
		return err
	})
}

func refuseAccount(context.Context, *postgres.Tx, string, id.ID) error {
	return fault.Invalid("social_account_id", "not_found", "There is no such connected account.")
}

// active creates an active mailbox.
func (o *office) active(change func(*mailboxes.Patch)) id.ID {
	o.Helper()
	v, err := o.create(change)
	if err != nil {
		o.Fatal(err)
	}
	o.exec(`UPDATE mailbox SET status = 'active', verified_at = now() WHERE id = $1`, v.ID)
	return v.ID
}

// relay makes a patch that of a relay.
func relay(rate int) func(*mailboxes.Patch) {
	return func(p *mailboxes.Patch) { p.DailyCap, p.RatePerSecond = none[int](), wire.Some(rate) }
}

func (o *office) update(mailbox id.ID, p mailboxes.Patch) (v mailboxes.Versioned, changed bool, err error) {
	return v, changed, o.tx(func(tx *postgres.Tx) (err error) {
		v, changed, err = o.boxes.Update(o.Context(), tx, mailbox, nil, &p, refuseAccount)
		return err
	})
}

func (o *office) get(mailbox id.ID) (v mailboxes.Versioned) {
	o.Helper()
	o.must(func(tx *postgres.Tx) (err error) {
		v, err = o.boxes.Get(o.Context(), tx, mailbox, true)
		return err
	})
	return v
}

// mails inserts n mails of the mailbox that were marked ago, each a second apart. bounced is hard, soft or "".
func (o *office) mails(mailbox id.ID, n int, ago time.Duration, bounced string) {
	o.Helper()
	o.exec(`INSERT INTO email (org_id, id, mailbox_id, thread_id, purpose, subject, to_email, to_domain, message_id,
			message_hash, status, due_at, marked_at, bounced, created_at, updated_at)
		SELECT $1, g.id, $2, g.id, 'personal', 'x', 'x@x.example', 'x.example', g.id::text, uuid_send(g.id), 'sent',
			now(), now() - $4::interval - make_interval(secs => $3 - n), nullif($5, ''), now(), now()
		FROM (SELECT gen_random_uuid() AS id, n FROM generate_series(1, $3) n) g`, o.org, mailbox, n, ago, bounced)
}

// slot takes a slot and rolls back.
func (o *office) slot(mailbox id.ID, automated bool) (s mailboxes.Slot) {
	o.Helper()
	o.must(func(tx *postgres.Tx) (err error) {
		s, err = mailboxes.TakeSlot(o.Context(), tx, mailbox, automated)
		return err
	})
	return s
}

// codes returns the code of a fault, or the codes of its fields.
func codes(err error) string {
	f := fault.Of(err)
	switch {
	case err == nil:
		return ""
	case f == nil:
		return err.Error()
	case len(f.Fields) == 0:
		return string(f.Code)
	}
	return f.Fields[0].Pointer + " " + f.Fields[0].Code
}
