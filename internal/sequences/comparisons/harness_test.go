package comparisons_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/comparisons"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// office is an org whose sequences have one step, hello.
type office struct {
	*testing.T
	*testkit.Database
	mu  sync.Mutex // guards sql
	sql *pgx.Conn
	org id.ID
}

func open(t *testing.T) *office {
	t.Helper()
	db := testkit.DB(t)
	o := &office{T: t, Database: db, sql: testkit.Pgx(t, db.URL), org: id.New()}
	o.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, o.org)
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

// one returns the text of the only column of the only row.
func (o *office) one(sql string, args ...any) string {
	o.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	var s *string
	if err := o.sql.QueryRow(o.Context(), "SELECT ("+sql+")::text", args...).Scan(&s); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
	if s == nil {
		return ""
	}
	return *s
}

func (o *office) tx(fn func(tx *postgres.Tx) error) error { return o.App.Tx(o.Context(), o.org, fn) }

func (o *office) check() error {
	return o.tx(func(tx *postgres.Tx) error { return comparisons.Check(o.Context(), tx) })
}

// due makes all checks due that are planned.
func (o *office) due() {
	o.Helper()
	o.exec(`UPDATE variant_comparison SET check_at = now() WHERE check_at IS NOT NULL`)
}

// step returns the step with the variants.
func step(auto bool, keys ...string) steps.Step {
	s := steps.Step{Key: "hello", Kind: steps.KindEmail, Email: &steps.Email{Subject: "Hi", Text: "Hi", Auto: auto}}
	for _, key := range keys {
		s.Email.Variants = append(s.Email.Variants, steps.Variant{Key: key, Weight: 1})
	}
	return s
}

// activated inserts a version of a sequence with the step, and makes it the active one.
func (o *office) activated(sequence id.ID, version int, s steps.Step) {
	o.Helper()
	body, err := json.Marshal(s)
	if err != nil {
		o.Fatal(err)
	}
	o.exec(`INSERT INTO sequence (org_id, id, name, name_folded, status, version, latest, created_at, updated_at)
		VALUES ($1, $2, 'Welcome', 'welcome', 'active', $3, $3, now(), now())
		ON CONFLICT (org_id, id) DO UPDATE SET version = $3, latest = $3`, o.org, sequence, version)
	o.exec(`INSERT INTO sequence_step (org_id, sequence_id, version, position, key, kind, body)
		VALUES ($1, $2, $3, 0, $4, $5, $6)`, o.org, sequence, version, s.Key, s.Kind, string(body))
	if err := o.tx(func(tx *postgres.Tx) error {
		comparisons.Begin(tx, sequence, []steps.Step{s})
		return nil
	}); err != nil {
		o.Fatal(err)
	}
}

// sent inserts emails of a variant, some of which were replied to.
func (o *office) sent(sequence id.ID, variant string, n, replied int, age time.Duration) {
	o.Helper()
	o.exec(`
		WITH made AS (
			INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state, step, grp, mailbox_id, zone,
				created_at, state_at)
			SELECT $1, gen_random_uuid(), $2, 1, gen_random_uuid(), 'active', 'hello', 1, $1, 'UTC', now(), now()
			FROM generate_series(1, $3) RETURNING id
		)
		INSERT INTO email (org_id, id, mailbox_id, thread_id, enrolment_id, step, variant, automated, purpose, subject,
			to_email, to_domain, message_id, message_hash, status, due_at, marked_at, replied_at, created_at,
			updated_at)
		SELECT $1, id, $1, id, id, 'hello', $4, true, 'marketing', 's', 't@x.example', 'x.example', id::text,
			decode(md5(id::text), 'hex'), 'sent', now(), now() - $6::interval,
			CASE WHEN row_number() OVER () <= $5 THEN now() END, now(), now() FROM made`, o.org, sequence, n, variant,
		replied, age)
}

// stopped returns the stopped variants of a sequence, and "next" if another check is planned.
func (o *office) stopped(sequence id.ID) string {
	o.Helper()
	var all map[id.ID]comparisons.Stops
	if err := o.tx(func(tx *postgres.Tx) (err error) {
		all, err = comparisons.Read(o.Context(), tx, sequence)
		return err
	}); err != nil {
		o.Fatal(err)
	}
	out := all[sequence].Of("hello")
	if o.one(`SELECT check_at > now() FROM variant_comparison WHERE sequence_id = $1`, sequence) == "true" {
		out = append(out, "next")
	}
	return strings.Join(out, " ")
}
