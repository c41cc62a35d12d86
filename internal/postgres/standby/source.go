package standby

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Source reads for one purpose.
type Source struct {
	reader *Reader
	use    Use
}

// ReadTx is postgres.DB.ReadTx with rows that may be MaxLag old. fn may be called twice: see the package comment.
// Except for Feed it is SnapshotTx: a page of the feed looks for writers first, and then must see what these have
// committed.
func (s Source) ReadTx(ctx context.Context, org id.ID, fn func(*postgres.Tx) error) error {
	if s.readStandby(ctx, org, nil, fn) {
		return nil
	}
	if s.use == Feed {
		return s.reader.primary.ReadTx(ctx, org, fn)
	}
	return s.reader.primary.SnapshotTx(ctx, org, fn)
}

// ReadFresh is ReadTx with rows that are as new as those on the primary at the time of the call.
func (s Source) ReadFresh(ctx context.Context, org id.ID, fn func(*postgres.Tx) error) error {
	mark := func(ctx context.Context) (position int64, err error) {
		err = s.reader.primary.ReadTx(ctx, org, func(tx *postgres.Tx) error {
			return insertPosition(ctx, tx, &position)
		})
		return position, err
	}
	if s.readStandby(ctx, org, mark, fn) {
		return nil
	}
	return s.reader.primary.ReadTx(ctx, org, fn)
}

// Instead is ReadFresh for use within tx, a transaction on the primary, which it replaces as the place to read. If the
// standby cannot be used, it calls fn with tx. fn does not see what tx itself has written, and must write nothing.
func (s Source) Instead(ctx context.Context, tx *postgres.Tx, fn func(*postgres.Tx) error) error {
	mark := func(ctx context.Context) (position int64, err error) {
		err = insertPosition(ctx, tx, &position)
		return position, err
	}
	if s.readStandby(ctx, tx.Org(), mark, fn) {
		return nil
	}
	return fn(tx)
}

// insertPosition reads the end of the primary's log. It includes commits that are not on the disk yet.
func insertPosition(ctx context.Context, tx *postgres.Tx, position *int64) error {
	return tx.QueryRow(ctx, `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint`, nil, position)
}

// readStandby runs fn on the standby and reports whether its result may be used. If mark is not nil, fn runs once the
// standby has replayed the primary's log up to the position that mark returns.
func (s Source) readStandby(ctx context.Context, org id.ID, mark func(context.Context) (int64, error),
	fn func(*postgres.Tx) error,
) bool {
	r := s.reader
	if r.standby == nil {
		return false
	}

	now := r.state.Load()
	if now.reason != used {
		r.metrics.countRead(s.use, now.reason)
		return false
	}

	position := int64(0)
	if mark != nil {
		var err error
		if position, err = mark(ctx); err != nil {
			return false // the primary's error; the read there fails, too
		}
	}
	err := r.awaitReplayed(ctx, now.over, position)
	read := r.standby.SnapshotTxWhile
	if s.use == Feed {
		read = r.standby.ReadTxWhile
	}
	if err == nil {
		err = read(ctx, now.over, org, fn)
	}
	if ctx.Err() != nil && err != nil {
		return false // the caller's context ended the read, and ends that of the primary
	}

	why := reasonOf(err, now.over.Err() != nil)
	if why == away {
		r.loseStandby(ctx, now)
	}
	r.metrics.countRead(s.use, why)
	return why == used
}

const (
	freshWait  = 2 * time.Second // how long a fresh read waits for the standby before it goes to the primary
	freshEvery = 20 * time.Millisecond
)

// awaitReplayed waits until the standby has replayed the log up to a position, 0 for any, or over ends.
func (r *Reader) awaitReplayed(ctx, over context.Context, position int64) error {
	if position == 0 {
		return nil
	}

	tick := time.NewTicker(freshEvery)
	defer tick.Stop()
	for end := time.Now().Add(freshWait); ; {
		var done bool
		err := r.standby.ReadTxWhile(ctx, over, id.ID{}, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx, `SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') >= $1::bigint`,
				[]any{position}, &done)
		})
		switch {
		case err != nil || done:
			return err
		case time.Now().After(end):
			return errBehind
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// loseStandby stops the use of a standby that does not answer, until the next successful probe.
func (r *Reader) loseStandby(ctx context.Context, was *state) {
	if was.reason == used && r.state.CompareAndSwap(was, r.newState(away)) {
		was.end()
		r.metrics.unused.Set(1)
		r.log.WarnContext(ctx, "reads go to the primary", "reason", string(away))
	}
}
