package standby

import (
	"context"
	"errors"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const (
	probeEvery = time.Second
	probeTime  = 2 * time.Second // timeout of a probe of one server
)

// identity is what a physical standby has in common with its primary.
type identity struct {
	system   int64
	database int64
}

// identitySQL reads an identity. pg_control_system is open to every role.
const identitySQL = `SELECT (SELECT system_identifier FROM pg_control_system()),
	(SELECT oid::bigint FROM pg_database WHERE datname = current_database()), `

// errForeign means that a server is not a standby of the primary.
var errForeign = errors.New("the server is not a streaming standby of the primary, or is one no longer")

// Run probes the servers until ctx ends. Each process must have one Run of its Reader.
func (r *Reader) Run(ctx context.Context) error {
	if r.standby == nil {
		return nil
	}
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	var primary identity
	for {
		r.probeServers(ctx, &primary)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// probeServers records the primary's position, measures the standby's lag and sets the state. primary is the identity
// that was read last: the primary need not answer.
func (r *Reader) probeServers(ctx context.Context, primary *identity) {
	at := time.Now() // before the position is read
	if own, position, err := probeOne(ctx, r.probes.primary,
		identitySQL+`true, pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint`); err == nil {
		*primary = own
		r.history.add(at, position)
	}
	own, replayed, err := probeOne(ctx, r.probes.standby,
		identitySQL+`pg_is_in_recovery(), coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint, 0)`)
	if ctx.Err() != nil {
		return
	}
	if err == nil && *primary != (identity{}) && own != *primary {
		err = errForeign
	}
	if err != nil {
		why := away
		if errors.Is(err, errForeign) {
			why = foreign
		}
		r.setState(ctx, why, "error", err)
		return
	}

	lag, known := r.history.lag(time.Now(), replayed)
	r.metrics.lag.Set(lag.Seconds())
	limit := r.maxLag - probeEvery - probeTime // what may pass until the next result
	if r.state.Load().reason == lagging {
		limit /= 2
	}
	if !known && lag <= limit {
		return // nothing is known yet
	}
	if !known || lag > limit {
		r.setState(ctx, lagging, "lag", lag.Round(time.Millisecond))
		return
	}

	r.setState(ctx, used, "lag", lag.Round(time.Millisecond))
}

// probeOne reads the identity of a server and a position in the log. Its query also returns whether the server is what
// it is taken for.
func probeOne(ctx context.Context, db *postgres.DB, sql string) (own identity, position int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var fits bool
	err = db.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, sql, nil, &own.system, &own.database, &fits, &position)
	})
	if err == nil && !fits {
		err = errForeign
	}
	return own, position, err
}

// setState changes the state and logs whether the standby is used, if that changes.
func (r *Reader) setState(ctx context.Context, why reason, about ...any) {
	was := r.state.Load()
	if was.reason == why || !r.state.CompareAndSwap(was, r.newState(why)) {
		return // a read may have found the standby away meanwhile: the next probe decides
	}
	switch {
	case why == used:
		r.metrics.unused.Set(0)
		r.log.InfoContext(ctx, "reads go to the standby", about...)
	case was.reason == used || was.reason == starting:
		r.metrics.unused.Set(1)
		r.log.WarnContext(ctx, "reads go to the primary", append([]any{"reason", string(why)}, about...)...)
	}

	if why == away || why == foreign {
		was.end()
	}
}
