package standby

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// MaxLag is the maximum age of rows that are read from a standby, unless Options has another one.
const MaxLag = 10 * time.Second

// Use is the purpose of reads, for metrics.
type Use string

// The purposes.
const (
	Feed     Use = "feed"
	Stats    Use = "stats"
	File     Use = "file"
	Export   Use = "export"
	Training Use = "training"
)

// Options configures a Reader.
type Options struct {
	Primary *postgres.DB // App role
	// PrimaryURL is the URL of Primary, and URL that of the standby. Pooler is set if both lead to transaction poolers.
	PrimaryURL, URL string
	Pooler          bool
	Name            string // shown in pg_stat_activity
	// MaxLag is the maximum age of rows that ReadTx returns; 0 means the constant.
	MaxLag  time.Duration
	Log     *slog.Logger
	Metrics *Metrics // nil: none
	// Tracer, if not nil, traces the reads on the standby. The probes are not traced.
	Tracer pgx.QueryTracer
}

// Reader reads from a standby while it can be used, and from the primary otherwise. It is safe for concurrent use.
type Reader struct {
	primary *postgres.DB
	standby *postgres.DB // nil: there is none
	// The probes have sessions of their own, so that they do not wait behind long reads.
	probes  struct{ primary, standby *postgres.DB }
	maxLag  time.Duration
	log     *slog.Logger
	metrics *Metrics
	state   atomic.Pointer[state]
	history history         // Run's alone
	base    context.Context //nolint:containedctx // parent of the states' contexts; never ends
}

// state is the result of the last probe.
type state struct {
	reason reason // why the standby is not used; used: it is
	// over ends when the standby stops answering. Reads on it end then.
	over context.Context //nolint:containedctx // of all reads that begin in this state
	end  context.CancelFunc
}

func (r *Reader) newState(why reason) *state {
	over, end := context.WithCancel(r.base)
	return &state{reason: why, over: over, end: end}
}

// Primary returns a Reader without a standby.
func Primary(db *postgres.DB) *Reader { return &Reader{primary: db} }

// Open returns a Reader of a primary and its standby. It connects to neither; the standby is not used before a probe of
// Run has succeeded.
func Open(ctx context.Context, o Options) (_ *Reader, err error) {
	r := &Reader{
		primary: o.Primary, maxLag: o.MaxLag, log: o.Log, metrics: o.Metrics, base: context.WithoutCancel(ctx),
	}
	if r.maxLag == 0 {
		r.maxLag = MaxLag
	}
	if r.metrics == nil {
		r.metrics = NewMetrics(nil)
	}
	r.state.Store(r.newState(starting))
	r.metrics.unused.Set(1)
	for _, pool := range []struct {
		db     **postgres.DB
		url    string
		conns  int32
		name   string
		tracer pgx.QueryTracer
		writes *postgres.Writes // nil for a pool on the standby
	}{
		{&r.standby, o.URL, 0, o.Name, o.Tracer, nil},
		{&r.probes.standby, o.URL, 1, o.Name + " probe", nil, nil},
		{&r.probes.primary, o.PrimaryURL, 1, o.Name + " probe", nil, o.Primary.Writes()},
	} {
		if *pool.db, err = postgres.Open(ctx, postgres.Options{
			URL: pool.url, Role: postgres.App, MaxConns: pool.conns, Pooler: o.Pooler, Name: pool.name,
			Tracer: pool.tracer, Writes: pool.writes, Standby: pool.writes == nil,
		}); err != nil {
			r.Close()
			return nil, fmt.Errorf("open the standby: %w", err)
		}
	}

	return r, nil
}

// Close closes the sessions on the standby. Reads must have ended.
func (r *Reader) Close() {
	for _, db := range []*postgres.DB{r.standby, r.probes.standby, r.probes.primary} {
		if db != nil {
			db.Close()
		}
	}
}

// Pool returns the pool of sessions on the standby, or nil if there is no standby.
func (r *Reader) Pool() *postgres.DB { return r.standby }

// For returns the Source for reads of one purpose.
func (r *Reader) For(use Use) Source { return Source{reader: r, use: use} }

// errBehind means that the standby did not replay the primary's log up to a position in time.
var errBehind = errors.New("the standby has not replayed the primary's log in time")

// reason is why a read went to the primary.
type reason string

const (
	used     reason = ""
	starting reason = "starting" // no probe has succeeded yet
	away     reason = "away"     // the standby does not answer
	foreign  reason = "foreign"  // the server is not a standby of the primary
	lagging  reason = "lag"
	behind   reason = "behind"   // fresh rows were wanted
	conflict reason = "conflict" // the read held up the replay
	failed   reason = "failed"   // another error, such as a missing row
)

// reasonOf classifies an error of a read on the standby. cut reports that the read was canceled because the standby
// does not answer.
func reasonOf(err error, cut bool) reason {
	code := postgres.Code(err)
	switch {
	case err == nil:
		return used
	case errors.Is(err, errBehind):
		return behind
	case code == "40001" || code == "40P01" || code == "57P04":
		return conflict
	case code == "25006" || postgres.TimedOut(err): // the read's own fault: a write, or too long
		return failed
	case cut || postgres.Lost(err) || postgres.Away(err):
		return away
	default:
		return failed
	}
}
