package postgres

import (
	"context"
	"log/slog"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
)

// lockTries is how often RetryLocks tries: with its pauses, for about a minute.
const lockTries = 8

// RetryLocks runs fn in transactions of the platform until one gets its locks in time. A lock that others' statements
// conflict with makes them wait from the moment when it is requested, so fn requests it with a short lock_timeout, and
// the statements run between the tries. It reports false, after about a minute, if some transaction held on to a table
// for so long, as a backup does: then the caller tries again at another time.
func (db *DB) RetryLocks(ctx context.Context, log *slog.Logger, fn func(*Tx) error) (done bool, err error) {
	wait := time.Second
	for try := 1; ; try++ {
		err := db.Tx(ctx, id.ID{}, fn)
		if Code(err) != lockNotAvailable {
			return err == nil, err
		}
		log.InfoContext(ctx, "tables are in use, their partitions wait", "try", try)
		if try == lockTries {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(wait):
			wait = min(2*wait, 15*time.Second)
		}
	}
}
