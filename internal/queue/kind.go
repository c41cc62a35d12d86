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

// Lane is an asynq queue: jobs of one lane share workers and are weighed against the other lanes.
type Lane string

// The lanes, in falling weight.
const (
	Critical Lane = "critical" // money and tokens
	Default  Lane = "default"
	Webhooks Lane = "webhooks"
	Bulk     Lane = "bulk"
)

// Lanes lists them all.
func Lanes() []Lane { return []Lane{Critical, Default, Webhooks, Bulk} }

// Options of a kind. The zero value of each means what its comment says.
type Options struct {
	Lane        Lane                           // Default
	MaxAttempts int                            // 8; the last failure makes the row dead
	Timeout     time.Duration                  // of one run: 30 s; the run's lease may end it sooner
	Backoff     func(failed int) time.Duration // wait after the failed'th failure, from 1: 2^failed s up to 1 h, +-20 %
}

// Kind is one sort of job with arguments A. Its name never changes; args are ids, never rows or secrets.
type Kind[A any] struct {
	name string
	opt  Options
}

// Define makes a kind. Names are "area.verb" or "area.verb_noun".
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
		o.Backoff = backoff
	}
	return Kind[A]{name: name, opt: o}
}

// Name is the kind's name in rows, tasks and metrics.
func (k Kind[A]) Name() string { return k.name }

// Options are the kind's, with defaults filled in.
func (k Kind[A]) Options() Options { return k.opt }

// Adding is one choice about a job that is being added.
type Adding func(*row)

// At lets the job wait until t.
func At(t time.Time) Adding { return func(r *row) { r.runAt = &t } }

// Dedupe makes a second open job of the same org with the same key a silent no-op.
func Dedupe(key string) Adding { return func(r *row) { r.dedupe = &key } }

// Line makes the job one of a line of the same org: jobs that share a bottleneck, such as a webhook endpoint,
// and so its slots. See HoldLine and its neighbours for what a line may be told.
func Line(line id.ID) Adding { return func(r *row) { r.line = &line } }

type row struct {
	id     id.ID
	runAt  *time.Time
	dedupe *string
	line   *id.ID
}

// Add is T1: it writes the job's row in tx, for tx's org. If tx commits the job will run; it is pushed to asynq
// right after the commit where its org has a free slot.
func (k Kind[A]) Add(_ context.Context, tx *postgres.Tx, with A, how ...Adding) error {
	body, err := json.Marshal(with)
	if err != nil {
		return fmt.Errorf("encode %s: %w", k.name, err)
	}
	r := row{id: id.New()}
	for _, h := range how {
		h(&r)
	}
	// As text: behind a transaction pooler bytes would go out as bytea.
	args := []any{tx.Org(), r.id, k.name, string(body), string(k.opt.Lane), k.opt.MaxAttempts}
	ref := Ref{ID: r.id, Org: tx.Org(), Kind: k.name, Lane: k.opt.Lane, MaxAttempts: k.opt.MaxAttempts}
	credits, from := creditsOf(tx), drawer{tx.Org(), k.opt.Lane}
	if r.runAt == nil && r.dedupe == nil && r.line == nil && credits.take(from, k.name) {
		tx.Queue(addKnownSQL, args...)
		tx.Note(ref)
		return nil
	}
	asked := time.Now()
	tx.Queue(addSQL, append(args, r.runAt, r.dedupe, r.line)...).Query(func(rows pgx.Rows) error {
		var slot, more bool
		_, err := pgx.ForEachRow(rows, []any{&ref.ID, &slot, &more}, func() error {
			if slot {
				tx.Note(ref)
			}
			credits.answer(from, k.name, asked, more)
			return nil
		})
		return err
	})
	return nil
}

// backoff doubles from 2 s to an hour, each wait off by up to a fifth so that a crowd spreads.
func backoff(failed int) time.Duration {
	d := time.Hour
	if failed < 12 {
		d = min(d, time.Duration(1<<failed)*time.Second)
	}
	return Jitter(d, 0.2)
}

// Jitter is d, up to the given fraction more or less.
func Jitter(d time.Duration, fraction float64) time.Duration {
	return time.Duration(float64(d) * (1 + fraction*(2*rand.Float64()-1))) //nolint:gosec // spreading load, not guarding a secret
}
