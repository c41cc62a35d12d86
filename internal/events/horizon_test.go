package events_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// feedWriters writes events of an org in many ways at once.
type feedWriters struct {
	*testing.T
	*testkit.Database
	org id.ID

	mu        sync.Mutex
	committed map[id.ID]string // event -> way
	passed    int              // transactions that the feed had passed before they registered
}

// announce announces the event of a new member, and returns the id of the event.
func announce(ctx context.Context, tx *postgres.Tx) (event id.ID, err error) {
	member := events.Member{ID: id.New(), Email: "ada@example.com", Role: "member"}
	if err := events.Announce(ctx, tx, events.UserJoined{Member: member}); err != nil {
		return event, err
	}
	return event, tx.QueryRow(ctx, `SELECT id FROM event WHERE org_id = $1
		AND data -> 'object' ->> 'id' = $2`, []any{tx.Org(), member.ID.String()}, &event)
}

// oldID gives the transaction its id, and lets others come and go.
func oldID(ctx context.Context, tx *postgres.Tx, wait time.Duration) error {
	_, err := tx.Exec(ctx, `SELECT pg_current_xact_id(), pg_sleep($1)`, wait.Seconds())
	return err
}

// write writes one event. It returns the way, and whether the transaction has committed.
func (w *feedWriters) write(ctx context.Context, r *rand.Rand) (event id.ID, way string, err error) {
	wait := time.Duration(r.IntN(40)) * time.Millisecond
	switch r.IntN(5) {
	case 0:
		return event, "at once", w.App.Tx(ctx, w.org, func(tx *postgres.Tx) (err error) {
			event, err = announce(ctx, tx)
			return err
		})
	case 1:
		return event, "late in its transaction", w.App.Tx(ctx, w.org, func(tx *postgres.Tx) (err error) {
			if err = oldID(ctx, tx, wait); err == nil {
				event, err = announce(ctx, tx)
			}
			return err
		})
	case 2:
		return event, "early in its transaction", w.App.Tx(ctx, w.org, func(tx *postgres.Tx) (err error) {
			if event, err = announce(ctx, tx); err == nil {
				err = oldID(ctx, tx, wait)
			}
			return err
		})
	case 3:
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		return event, "ends with its session", w.App.Tx(ctx, w.org, func(tx *postgres.Tx) (err error) {
			if event, err = announce(ctx, tx); err == nil {
				err = oldID(ctx, tx, time.Second)
			}
			return err
		})
	default:
		event, err = w.unregistered(ctx, wait)
		return event, "is not registered", err
	}
}

// unregistered writes an event as an earlier release, or an operator, does.
func (w *feedWriters) unregistered(ctx context.Context, wait time.Duration) (event id.ID, err error) {
	event = id.New()
	conn, err := pgx.Connect(ctx, w.URL)
	if err != nil {
		return event, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	return event, pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_current_xact_id(), pg_sleep($1)`, wait.Seconds()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
			VALUES ($1, $2, event_seq(0), 'user.joined', 'system', '{}', now())`, w.org, event)
		if err == nil {
			_, err = tx.Exec(ctx, `SELECT pg_sleep($1)`, wait.Seconds())
		}
		return err
	})
}

// run writes events from many goroutines.
func (w *feedWriters) run(writers, each int) {
	var writing sync.WaitGroup
	for n := range writers {
		writing.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 7))
			for range each {
				event, way, err := w.write(w.Context(), r)
				code, _ := errors.AsType[*pgconn.PgError](err)
				w.mu.Lock()
				switch {
				case err == nil:
					w.committed[event] = way
				case code != nil && code.Code == "40001":
					w.passed++
				case way != "ends with its session":
					w.Errorf("a writer that %s: %v", way, err)
				}
				w.mu.Unlock()
			}
		})
	}
	writing.Wait()
}

// openForeign begins a transaction that is not ours, and returns what ends it.
func openForeign(t *testing.T, url string) (end func()) {
	t.Helper()
	conn := testkit.Pgx(t, url)
	tx, err := conn.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), `SELECT pg_current_xact_id()`)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Commit(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("the foreign transaction has not been open to the end: %v", err)
		}
	}
}

// publish publishes the horizon of events without a pause, from as many processes as there are publishers.
func publish(t *testing.T, system *postgres.DB, publishers int) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var publishing sync.WaitGroup
	for range publishers {
		publishing.Go(func() {
			p := events.HorizonPublisher{DB: system}
			for ctx.Err() == nil {
				if err := p.Publish(ctx); err != nil && ctx.Err() == nil {
					t.Errorf("publish: %v", err)
				}
			}
		})
	}
	t.Cleanup(func() {
		stop()
		publishing.Wait()
	})
}

func TestAReaderMissesNoEventThoughAForeignTransactionIsOpen(t *testing.T) {
	t.Parallel()
	w := &feedWriters{T: t, Database: testkit.DB(t), org: id.New(), committed: map[id.ID]string{}}
	defer openForeign(t, w.URL)()
	publish(t, w.System, 2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run(12, 30)
	}()
	seen, last := map[id.ID]bool{}, int64(0)
	over := false
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); {
		select {
		case <-done:
			over = true
		default:
		}
		var page []*events.Stored
		if err := w.App.ReadTx(t.Context(), w.org, func(tx *postgres.Tx) (err error) {
			page, err = events.Feed(t.Context(), tx, last, nil, 7)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			if e.Seq <= last || seen[e.ID] {
				t.Errorf("seq %d after %d", e.Seq, last)
			}
			last, seen[e.ID] = e.Seq, true
		}
		if over && len(page) == 0 && len(seen) >= len(w.committed) {
			break
		}
	}
	<-done
	missed := map[string]int{}
	for event, way := range w.committed {
		if !seen[event] {
			missed[way]++
		}
	}
	if len(missed) > 0 || len(seen) != len(w.committed) {
		t.Errorf("%d events are read of %d, missing by the way of their writer: %v", len(seen), len(w.committed),
			missed)
	}
	t.Logf("%d events; %d transactions had been passed", len(seen), w.passed)
}

func TestAHorizonOfAnotherClusterIsIgnoredAndReplaced(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	defer openForeign(t, db.URL)()
	conn := testkit.Pgx(t, db.URL)
	const other = int64(1) << 40
	if _, err := conn.Exec(t.Context(), `INSERT INTO event_horizon_row VALUES ($1)`, other); err != nil {
		t.Fatal(err)
	}
	horizon := func() (xid int64) {
		if err := conn.QueryRow(t.Context(), `SELECT event_horizon() >> 12`).Scan(&xid); err != nil {
			t.Fatal(err)
		}
		return xid
	}
	before := horizon()
	if before >= other {
		t.Errorf("the horizon is %d", before)
	}
	if _, err := conn.Exec(t.Context(), `SELECT pg_current_xact_id()`); err != nil {
		t.Fatal(err)
	}
	p := events.HorizonPublisher{DB: db.System}
	if err := p.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	var rows string
	if err := conn.QueryRow(t.Context(), `SELECT string_agg(xid::text, ' ') FROM event_horizon_row`).
		Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if after := horizon(); after <= before || rows != fmt.Sprint(after) {
		t.Errorf("the horizon is %d after %d, the rows are %s", after, before, rows)
	}
}
