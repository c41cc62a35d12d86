package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Options configures a kind. The field comments give the defaults.
type Options struct {
	Lane        Lane                           // Default
	MaxAttempts int                            // 8; the last failure makes the row dead
	Timeout     time.Duration                  // of one run: 30 s; the lease may end the run sooner
	Backoff     func(failed int) time.Duration // delay after failure n, from 1: 2^n s up to 1 h, +-20 %
	// Alias is the other name of a kind that is being renamed: its next name, or its previous one. Rows and tasks under
	// the alias run, but are not written. See jobs/README.md.
	Alias string
}

// Kind is a kind of job with arguments A. Its name changes in two releases, by way of an alias. Arguments are ids,
// never rows or secrets.
type Kind[A any] struct {
	name string
	opt  Options
}

// Define returns a kind. Names have the form "area.verb" or "area.verb_noun".
func Define[A any](name string, o Options) Kind[A] {
	if o.Lane == "" {
		o.Lane = Default
	}
	if o.MaxAttempts == 0 {
		o.MaxAttempts = 8
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Backoff == nil {
		o.Backoff = backoffDelay
	}
	return Kind[A]{name: name, opt: o}
}

// Name returns the kind's name in rows, tasks and metrics.
func (k Kind[A]) Name() string { return k.name }

// Watch returns a function that adds one job to each org that find returns, unless the org has an open job with the
// dedupe key. The jobs are added in one transaction per org. Each has a concurrency key of its own, so that it does not
// wait behind the org's other work.
func (k Kind[A]) Watch(app *postgres.DB, dedupe string, find func(context.Context) ([]id.ID, error),
) func(context.Context) error {
	return func(ctx context.Context) error {
		orgs, err := find(ctx)
		if err != nil {
			return err
		}
		for _, org := range orgs {
			if err := app.Tx(ctx, org, func(tx *postgres.Tx) error {
				var args A
				return k.Add(ctx, tx, args, Dedupe(dedupe), ConcurrencyKey(org))
			}); err != nil {
				return fmt.Errorf("add %s: %w", k.name, err)
			}
		}
		return nil
	}
}

// Adding is an option of Add.
type Adding func(*row)

// At delays the job until t, a time that a person or a plan has set. It stays when clocks are set.
func At(t time.Time) Adding { return func(r *row) { r.runAt = &t } }

// In delays the job by d, by Postgres's clock. Use it instead of At for a pause: a clock that is set does not lengthen
// it.
func In(d time.Duration) Adding { return func(r *row) { r.delay = &d } }

// Dedupe makes Add do nothing if the org already has an open job with the same key.
func Dedupe(key string) Adding { return func(r *row) { r.dedupe = &key } }

// ConcurrencyKey assigns the job to a concurrency key of its org. Jobs with the same key share a bottleneck, such as a
// webhook endpoint, and therefore slots. OpenCircuit and SetKeyRate set a key's limits.
func ConcurrencyKey(line id.ID) Adding { return func(r *row) { r.line = &line } }

type row struct {
	id     id.ID
	runAt  *time.Time
	delay  *time.Duration
	dedupe *string
	line   *id.ID
}

// Add is T1: it inserts the job's row in tx, for tx's org. The job will run if tx commits. If its org has a free slot,
// it is enqueued in asynq right after the commit.
func (k Kind[A]) Add(_ context.Context, tx *postgres.Tx, with A, how ...Adding) error {
	body, err := json.Marshal(with)
	if err != nil {
		return fmt.Errorf("encode %s: %w", k.name, err)
	}
	r := row{id: id.New()}
	for _, h := range how {
		h(&r)
	}
	// As text: behind a transaction pooler bytes would be sent as bytea.
	args := []any{tx.Org(), r.id, k.name, string(body), string(k.opt.Lane), k.opt.MaxAttempts}
	ref := Ref{ID: r.id, Org: tx.Org(), Kind: k.name, Lane: k.opt.Lane, MaxAttempts: k.opt.MaxAttempts}
	credits, from := slotCacheOf(tx), slotKey{tx.Org(), k.opt.Lane}
	if r.runAt == nil && r.delay == nil && r.dedupe == nil && r.line == nil && credits.useCredit(from, k.name) {
		tx.Queue(addKnownSQL, args...)
		tx.AfterCommit(ref)
		return nil
	}
	check := credits.beginCheck(from, k.name)
	tx.Queue(addSQL, append(args, r.runAt, r.dedupe, r.line, r.delay)...).Query(func(rows pgx.Rows) error {
		var slot, more bool
		_, err := pgx.ForEachRow(rows, []any{&ref.ID, &slot, &more}, func() error {
			if slot {
				tx.AfterCommit(ref)
			}
			credits.recordCheck(from, check, more)
			return nil
		})
		return err
	})
	return nil
}

// backoffDelay doubles from 2 s to an hour, with up to a fifth of jitter so that retries spread out.
func backoffDelay(failed int) time.Duration {
	d := time.Hour
	if failed < 12 {
		d = min(d, time.Duration(1<<failed)*time.Second)
	}
	return Jitter(d, 0.2)
}

// Jitter returns d, randomly longer or shorter by up to fraction.
func Jitter(d time.Duration, fraction float64) time.Duration {
	return time.Duration(float64(d) * (1 +
		fraction*(2*rand.Float64()-1))) //nolint:gosec // spreading load, not guarding a secret
}
