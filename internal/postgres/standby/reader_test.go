package standby_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/events" //nolint:depguard // the feed reads from standbys
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// pair is a primary, its standby, and a Reader of both.
type pair struct {
	*testing.T
	primary, second *testkit.PostgresServer
	app             *postgres.DB // on the primary
	sql, there      *pgx.Conn    // superuser, on the primary and on the standby
	reads           *standby.Reader
	metrics         *prometheus.Registry
	tracer          traced // of the reads on the standby
	org             id.ID
}

func open(t *testing.T, maxLag time.Duration) *pair {
	t.Helper()
	p := &pair{T: t, primary: testkit.RealPostgres(t), org: id.New(), metrics: prometheus.NewRegistry()}
	p.second = p.primary.Standby()
	p.app = testkit.Open(t, p.primary.URL, postgres.App)
	p.sql, p.there = testkit.Pgx(t, p.primary.URL), testkit.Pgx(t, p.second.URL)
	p.exec(`INSERT INTO org (id, name) VALUES ($1, 'Engines')`, p.org)
	p.reads = p.reader(p.second.URL, maxLag)
	return p
}

// reader opens and runs a Reader with a standby at url.
func (p *pair) reader(url string, maxLag time.Duration) *standby.Reader {
	p.Helper()
	r, err := standby.Open(p.Context(), standby.Options{
		Primary: p.app, PrimaryURL: p.primary.URL, URL: url, Name: "test", MaxLag: maxLag, Log: testkit.Log(p.T),
		Metrics: standby.NewMetrics(p.metrics), Tracer: &p.tracer,
	})
	if err != nil {
		p.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(p.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = r.Run(ctx) })
	p.Cleanup(func() {
		stop()
		running.Wait()
		r.Close()
	})
	return r
}

func (p *pair) exec(sql string, args ...any) {
	p.Helper()
	if _, err := p.sql.Exec(p.Context(), sql, args...); err != nil {
		p.Fatalf("%s: %v", sql, err)
	}
}

// onStandby executes a statement on the standby.
func (p *pair) onStandby(sql string) {
	p.Helper()
	if _, err := p.there.Exec(p.Context(), sql); err != nil {
		p.Fatalf("%s: %v", sql, err)
	}
}

// counted returns the number of reads of a use by reason.
func (p *pair) counted(use standby.Use, reason string) (n float64) {
	p.Helper()
	all, err := p.metrics.Gather()
	if err != nil {
		p.Fatal(err)
	}
	for _, family := range all {
		if family.GetName() != "funnelwork_standby_reads_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["use"] == string(use) && labels["reason"] == reason {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// publishHorizon lets the feed pass the open transaction, until the test ends.
func (p *pair) publishHorizon() {
	ctx, stop := context.WithCancel(context.WithoutCancel(p.Context()))
	publisher := events.HorizonPublisher{DB: testkit.Open(p.T, p.primary.URL, postgres.System)}
	var publishing sync.WaitGroup
	publishing.Go(func() {
		for ; ctx.Err() == nil; <-time.After(time.Millisecond) {
			if err := publisher.Publish(ctx); err != nil && ctx.Err() == nil {
				p.Errorf("publish: %v", err)
			}
		}
	})
	p.Cleanup(func() {
		stop()
		publishing.Wait()
	})
}

func (p *pair) until(what string, holds func() bool) {
	p.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.Fatalf("not within two minutes: %s", what)
		}
	}
}

// where reports whether a read was made on the standby.
func (p *pair) where(read func(context.Context, id.ID, func(*postgres.Tx) error) error) (onStandby bool) {
	p.Helper()
	if err := read(p.Context(), p.org, func(tx *postgres.Tx) error {
		return tx.QueryRow(p.Context(), `SELECT pg_is_in_recovery()`, nil, &onStandby)
	}); err != nil {
		p.Fatal(err)
	}
	return onStandby
}

func (p *pair) inUse() {
	p.Helper()
	p.until("reads go to the standby", func() bool { return p.where(p.reads.For(standby.Feed).ReadTx) })
}

// names returns the names of the orgs that the policies let a read see.
func (p *pair) names(read func(context.Context, id.ID, func(*postgres.Tx) error) error, org id.ID) (names []string) {
	p.Helper()
	if err := read(p.Context(), org, func(tx *postgres.Tx) error {
		rows, err := tx.Query(p.Context(), `SELECT name FROM org`)
		if err == nil {
			names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	}); err != nil {
		p.Fatal(err)
	}
	return names
}

func TestAStandbyIsReadUnderTheSamePoliciesAndNeverWritten(t *testing.T) {
	t.Parallel()
	p := open(t, 0)
	p.inUse()
	other := id.New()
	p.exec(`INSERT INTO org (id, name) VALUES ($1, 'Strangers')`, other)
	for _, org := range []struct {
		id   id.ID
		want []string
	}{{p.org, []string{"Engines"}}, {other, []string{"Strangers"}}, {id.New(), []string{}}} {
		// Fresh, so that the row that was just committed is there.
		got := p.names(p.reads.For(standby.Export).ReadFresh, org.id)
		if diff := cmp.Diff(org.want, got); diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
	}
	if n := p.counted(standby.Export, ""); n == 0 {
		t.Error("no read was made on the standby")
	}
	// The Reader repeats on the primary what the standby refuses.
	err := p.reads.For(standby.Feed).ReadTx(t.Context(), p.org, func(tx *postgres.Tx) error {
		var there bool
		if err := tx.QueryRow(t.Context(), `SELECT pg_is_in_recovery()`, nil, &there); err != nil || !there {
			return errors.Join(err, errors.New("the primary"))
		}
		_, err := tx.Exec(t.Context(), `UPDATE org SET name = 'changed'`)
		if postgres.Code(err) != "25006" {
			t.Errorf("a write on the standby: %v", err)
		}
		return err
	})
	if err == nil || err.Error() != "the primary" {
		t.Errorf("the error is that of the standby: %v", err)
	}
}

func TestReadsGoToThePrimaryWhileTheStandbyLags(t *testing.T) {
	t.Parallel()
	p := open(t, 5*time.Second)
	p.inUse()
	p.onStandby(`SELECT pg_wal_replay_pause()`)
	p.exec(`UPDATE org SET name = 'Renamed'`)
	fresh := p.reads.For(standby.Export)
	if diff := cmp.Diff([]string{"Renamed"}, p.names(fresh.ReadFresh, p.org)); diff != "" {
		t.Errorf("a fresh read (-want +got):\n%s", diff)
	}
	if err := p.app.Tx(t.Context(), p.org, func(tx *postgres.Tx) error {
		instead := func(ctx context.Context, _ id.ID, fn func(*postgres.Tx) error) error {
			return fresh.Instead(ctx, tx, fn)
		}
		if diff := cmp.Diff([]string{"Renamed"}, p.names(instead, p.org)); diff != "" {
			t.Errorf("a fresh read within a transaction (-want +got):\n%s", diff)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if n := p.counted(standby.Export, ""); n != 0 {
		t.Errorf("%v fresh reads were made on the standby", n)
	}
	stale := p.reads.For(standby.Feed)
	p.until("reads go to the primary", func() bool { return !p.where(stale.ReadTx) })
	if diff := cmp.Diff([]string{"Renamed"}, p.names(stale.ReadTx, p.org)); diff != "" {
		t.Errorf("a read that may be stale (-want +got):\n%s", diff)
	}
	p.onStandby(`SELECT pg_wal_replay_resume()`)
	p.inUse()
}

func TestAReadThatHoldsUpTheReplayIsRepeatedOnThePrimary(t *testing.T) {
	t.Parallel()
	p := open(t, 0)
	p.exec(`CREATE TABLE held (n int)`)
	p.exec(`GRANT SELECT ON held TO funnelwork_app`)
	p.exec(`INSERT INTO held VALUES (1)`)
	p.onStandby(`ALTER SYSTEM SET max_standby_streaming_delay = 0`)
	p.onStandby(`SELECT pg_reload_conf()`)
	for p.counted(standby.Export, "conflict") == 0 { // on a busy machine a read may go to the primary at once
		p.inUse()
		done := make(chan error, 1)
		var found string
		go func() {
			done <- p.reads.For(standby.Export).ReadFresh(t.Context(), p.org, func(tx *postgres.Tx) error {
				return tx.QueryRow(t.Context(), `SELECT
					CASE WHEN pg_is_in_recovery() THEN pg_sleep(100)::text ELSE '' END || count(*) FROM held`,
					nil, &found)
			})
		}()
		p.until("the read is under way", func() (active bool) {
			if err := p.there.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
				WHERE wait_event = 'PgSleep')`).Scan(&active); err != nil {
				t.Fatal(err)
			}
			return active || len(done) > 0
		})
		p.exec(`TRUNCATE held`)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if want := "0"; found != want && p.counted(standby.Export, "conflict") > 0 {
			t.Errorf("%s rows, want %s: those of the primary", found, want)
		}
	}
}

func TestAReadOnAServerThatHangsOrDiesIsRepeatedOnThePrimary(t *testing.T) {
	t.Parallel()
	p := open(t, 0)
	feed := p.reads.For(standby.Feed)
	for _, c := range []struct {
		name       string
		lose, back func()
	}{
		{"hangs", p.second.Hang, p.second.Continue},
		{"dies", p.second.Kill, p.second.Start},
	} {
		p.inUse()
		before := p.counted(standby.Feed, "away")
		c.lose()
		if p.where(feed.ReadTx) {
			t.Errorf("%s: the read was answered by the standby", c.name)
		}
		if n := p.counted(standby.Feed, "away"); n <= before {
			t.Errorf("%s: no read was repeated because the standby is away", c.name)
		}
		c.back()
	}
	p.inUse()
}

// Neither another server nor a promoted standby is read from.
func TestAServerThatIsNoStandbyOfThePrimaryIsNotUsed(t *testing.T) {
	t.Parallel()
	p := open(t, 0)
	p.inUse()
	p.second.Promote()
	p.until("reads go to the primary", func() bool { return p.counted(standby.Feed, "foreign") > 0 || p.read() })
	p.metrics = prometheus.NewRegistry()
	p.reads = p.reader(testkit.DB(t).URL, 0)
	p.until("reads go to the primary", func() bool { return p.counted(standby.Feed, "foreign") > 0 || p.read() })
}

// read reads once, and reports false.
func (p *pair) read() bool {
	_ = p.names(p.reads.For(standby.Feed).ReadTx, p.org)
	return false
}

// A reader of the feed continues from the last seq that it has seen, on a standby that replays late, while several
// writers commit in another order than that of their transactions' begin.
// A transaction that is not ours is open on the primary all the time.
func TestAReaderOfTheFeedOnAStandbyMissesNoEvent(t *testing.T) {
	t.Parallel()
	p := open(t, 0)
	p.inUse()
	p.exec(`BEGIN`)
	p.exec(`SELECT pg_current_xact_id()`)
	p.publishHorizon()
	p.onStandby(`ALTER SYSTEM SET recovery_min_apply_delay = '100ms'`)
	p.onStandby(`SELECT pg_reload_conf()`)
	const writers, each = 8, 30
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for n := range each {
				err := p.app.Tx(t.Context(), p.org, func(tx *postgres.Tx) error {
					by := events.Member{ID: id.New(), Email: fmt.Sprintf("u%d-%d@example.com", w, n), Role: "member"}
					if err := events.Announce(t.Context(), tx, events.UserJoined{Member: by}); err != nil {
						return err
					}
					// The transaction has its place in the feed and is open for a while.
					_, err := tx.Exec(t.Context(), `SELECT pg_sleep($1)`, float64((w*7+n)%5)/100)
					return err
				})
				if err != nil {
					t.Errorf("announce: %v", err)
				}
			}
		})
	}
	seen, last := map[id.ID]bool{}, int64(0)
	p.until("all events are read", func() bool {
		var page []*events.Stored
		if err := p.reads.For(standby.Feed).ReadTx(t.Context(), p.org, func(tx *postgres.Tx) (err error) {
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
		return len(seen) >= writers*each
	})
	writing.Wait()
	if n := p.counted(standby.Feed, ""); n < 10 {
		t.Errorf("only %v reads were made on the standby", n)
	}
}
