package requestlog

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/funnelwork/funnelwork/internal/batch"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Limits of a Recorder.
const (
	Interval   = 250 * time.Millisecond // between two statements
	atOnce     = 2000                   // entries of one statement
	held       = 20_000                 // entries in memory
	heldBodies = 8 << 20                // bytes of their bodies and errors
	patience   = 5 * time.Second        // for the database
)

// Entry is a request of an org.
type Entry struct {
	Org       id.ID
	At        time.Time // when it came
	RequestID string
	Method    string
	Route     string // as in the API document; "" if there is none at the address
	Status    int
	Code      string // of the problem, or ""
	Took      time.Duration
	Key, User id.ID // who called; one is zero

	// Of failures:
	Subject id.ID           // the id in the path, or zero
	Body    json.RawMessage // a result of Redact, or nil
	Errors  json.RawMessage // a list of LoggedError, or nil

	id id.ID
}

// keptBytes returns how many bytes of e are counted against heldBodies.
func (e *Entry) keptBytes() int64 { return int64(len(e.Body) + len(e.Errors)) }

// Recorder writes entries. A nil *Recorder drops all. It is safe for concurrent use.
type Recorder struct {
	system  *postgres.DB
	log     *slog.Logger
	metrics *Metrics
	entries *batch.Batcher[*Entry]
	bodies  atomic.Int64 // bytes in memory
}

// NewRecorder returns a Recorder. system is a pool of the system role: one statement has entries of many orgs. m may be
// nil.
func NewRecorder(system *postgres.DB, log *slog.Logger, m *Metrics) *Recorder {
	r := &Recorder{system: system, log: log, metrics: m}
	r.entries = batch.New(batch.Options[*Entry]{
		Send: r.writeBatch, Timeout: patience, Interval: Interval, Most: atOnce, Queued: held,
	})
	return r
}

// Add queues e, whose strings must not change any more. It never waits. Where too much is in memory it drops the body,
// or all of e.
func (r *Recorder) Add(e *Entry) {
	if r == nil {
		return
	}

	e.id = idOf(e.At)
	if size := e.keptBytes(); size > 0 && r.bodies.Add(size) > heldBodies {
		r.bodies.Add(-size)
		e.Body = nil
		e.Errors = nil
	}

	if !r.entries.Add(e) {
		r.bodies.Add(-e.keptBytes())
		r.metrics.countEntries(dropped, 1)
	}
}

// idOf returns a new id with the time at, to the millisecond.
func idOf(at time.Time) id.ID {
	i := id.New()
	floor := id.Floor(at)
	copy(i[:6], floor[:6])
	return i
}

// Flush waits until the entries that were added before are written, or have failed.
func (r *Recorder) Flush(ctx context.Context) {
	if r != nil {
		_ = r.entries.Do(ctx, &Entry{}) // nothing depends on the outcome
	}
}

// Close writes the entries in memory, for as long as ctx lasts. Further ones are dropped.
func (r *Recorder) Close(ctx context.Context) {
	if r != nil {
		r.entries.Close(ctx)
	}
}

const insertSQL = `
	INSERT INTO request_log (org_id, id, request_id, method, route, status, code, took_us, key_id, user_id, subject_id,
		body, errors)
	SELECT o, i, request, method, route, status, code, took, nullif(k, $14::uuid), nullif(u, $14::uuid),
		nullif(s, $14::uuid), nullif(body, '')::json, nullif(errors, '')::json
	FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::text[], $8::bigint[],
		$9::uuid[], $10::uuid[], $11::uuid[], $12::text[], $13::text[])
		AS n (o, i, request, method, route, status, code, took, k, u, s, body, errors)`

// writeBatch inserts entries of many orgs. The commit is not waited for: a crash of Postgres may lose the last ones.
func (r *Recorder) writeBatch(ctx context.Context, all []*Entry) error {
	var c columns
	for _, e := range all {
		if !e.Org.IsZero() { // else it is a Flush
			c.addEntry(e)
		}
		r.bodies.Add(-e.keptBytes())
	}
	if len(c.ids) == 0 {
		return nil
	}

	err := r.system.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`SELECT set_config('synchronous_commit', 'off', true)`)
		tx.Queue(insertSQL, c.insertArgs()...)
		return nil
	})
	if err != nil {
		r.metrics.countEntries(failed, len(c.ids))
		r.log.WarnContext(ctx, "requests not written to the request log", "requests", len(c.ids), "error", err)
		return fmt.Errorf("write request log: %w", err)
	}

	r.metrics.countEntries(written, len(c.ids))

	return nil
}
