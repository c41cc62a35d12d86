package sequences_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// office is an org with an active sandbox mailbox.
type office struct {
	*testing.T
	*testkit.Database
	mu      sync.Mutex // guards sql
	sql     *pgx.Conn
	org     id.ID
	mailbox id.ID
}

func open(t *testing.T) *office {
	t.Helper()
	db := testkit.DB(t)
	o := &office{T: t, Database: db, sql: testkit.Pgx(t, db.URL), org: id.New(), mailbox: id.New()}
	o.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, o.org)
	o.exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, created_at,
		updated_at) VALUES ($1, $2, 'Box', 'sandbox', 'hello@shop.example', 'hello@shop.example', 'shop.example',
		'active', now(), now())`, o.org, o.mailbox)
	return o
}

func (o *office) exec(sql string, args ...any) {
	o.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.sql.Exec(o.Context(), sql, args...); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
}

func (o *office) tx(fn func(tx *postgres.Tx) error) error { return o.App.Tx(o.Context(), o.org, fn) }

func ground(ctx context.Context, tx *postgres.Tx) *sequences.Ground {
	return &sequences.Ground{
		StopOn: sequences.StopOn{Reply: true},
		Goal:   contacts.Parser(ctx, tx), Condition: contacts.ParserWith(ctx, tx, steps.FactTypes()),
		Update: func(_ string, set map[string]any) (map[string]any, error) { return set, nil },
	}
}

func (o *office) create(p sequences.Patch) (r sequences.Row, err error) {
	err = o.tx(func(tx *postgres.Tx) (err error) {
		r, err = sequences.Create(o.Context(), tx, &p, ground(o.Context(), tx))
		return err
	})
	return r, err
}

func (o *office) update(i id.ID, p sequences.Patch) (r sequences.Row, err error) {
	err = o.tx(func(tx *postgres.Tx) error {
		ch, err := sequences.Update(o.Context(), tx, i, nil, &p, ground(o.Context(), tx))
		r = ch.Row
		return err
	})
	return r, err
}

// activate activates a sequence without any gate.
func (o *office) activate(i id.ID) (r sequences.Row, changed bool) {
	o.Helper()
	err := o.tx(func(tx *postgres.Tx) (err error) {
		r, changed, err = sequences.Activate(o.Context(), tx, i, nil, func(*sequences.Sequence) error { return nil })
		return err
	})
	if err != nil {
		o.Fatal(err)
	}
	return r, changed
}

func (o *office) load(i id.ID, number int) (v *sequences.Version) {
	o.Helper()
	err := o.tx(func(tx *postgres.Tx) (err error) {
		v, err = sequences.Load(o.Context(), tx, i, number)
		return err
	})
	if err != nil {
		o.Fatal(err)
	}
	return v
}

func mail(key, text string) steps.Step {
	return steps.Step{Key: key, Kind: steps.KindEmail, Email: &steps.Email{Subject: "Hi", Text: text}}
}

func wait(key string, days int) steps.Step {
	return steps.Step{Key: key, Kind: steps.KindWait, Delay: schedule.Delay{Value: days, Unit: schedule.Days}}
}

// welcome is the patch of a sequence with two mails.
func (o *office) welcome() sequences.Patch {
	return sequences.Patch{
		Name: wire.Some("Welcome"), MailboxIDs: wire.Some([]string{o.mailbox.String()}),
		Steps: wire.Some([]steps.Step{mail("first", "one"), wait("pause", 3), mail("second", "two")}),
	}
}

// problems returns the pointers and codes of a fault, and its own code.
func problems(err error) (list []string, code fault.Code) {
	f := fault.Of(err)
	if f == nil {
		return nil, ""
	}
	for _, e := range f.Fields {
		list = append(list, e.Pointer+" "+e.Code)
	}
	return list, f.Code
}
