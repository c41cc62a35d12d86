package counts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// When deltas are folded.
const (
	foldEvery = time.Second      // between two searches
	foldAll   = 30 * time.Second // between two folds of the sources with few deltas
	foldMany  = 500              // deltas of a source that are folded by the next search
	foldBatch = 100              // sources of a transaction
)

// source is a sequence or a broadcast.
type source struct{ org, id id.ID }

// Folder adds deltas to the counts and deletes them. Several processes may fold: each source is folded by one of them
// at a time. A Folder is not safe for concurrent use.
type Folder struct {
	DB *postgres.DB // System role

	seen    int64          // deltas of lower transaction ids are folded, or in waiting
	waiting map[source]int // sources with deltas, and how many
	next    time.Time      // of the next search
	all     time.Time      // of the next fold of all sources
}

// Fold is to be called several times a second. It folds the sources with many deltas each second, and the others every
// 30 seconds. If it fails, the next call finds the same deltas again.
func (f *Folder) Fold(ctx context.Context) error {
	now := time.Now()
	if now.Before(f.next) {
		return nil
	}

	f.next = now.Add(foldEvery)
	err := f.findDeltas(ctx)
	if err == nil {
		err = f.foldDue(ctx, !now.Before(f.all))
	}
	if err != nil {
		f.seen = 0
		f.waiting = nil
		return fmt.Errorf("fold counts: %w", err)
	}
	if !now.Before(f.all) {
		f.all = now.Add(foldAll)
	}

	return nil
}

// findDeltas finds the deltas below the horizon that it has not seen, and those with a number that is not of a
// transaction of this cluster. It begins behind those that it has seen, since the rows of folded ones may still be in
// the index.
func (f *Folder) findDeltas(ctx context.Context) error {
	if f.waiting == nil {
		f.waiting = map[source]int{}
	}
	return f.DB.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(byKeys)
		rows, err := tx.Query(ctx, `
			WITH bound AS MATERIALIZED (SELECT event_horizon() >> 12 AS low,
				pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS high)
			SELECT b.low, d.org_id, d.source_id, coalesce(d.n, 0) FROM bound b LEFT JOIN LATERAL (
				SELECT org_id, source_id, count(*) AS n FROM (
					SELECT org_id, source_id FROM outreach_delta WHERE xid >= $1 AND xid < b.low
					UNION ALL
					SELECT org_id, source_id FROM outreach_delta WHERE xid > b.high
				) AS x GROUP BY org_id, source_id
			) AS d ON true`, f.seen)
		if err != nil {
			return err
		}
		var (
			low     int64
			org, of *id.ID
			n       int
		)
		if _, err = pgx.ForEachRow(rows, []any{&low, &org, &of, &n}, func() error {
			if org != nil {
				f.waiting[source{*org, *of}] += n
			}
			return nil
		}); err != nil {
			return err
		}
		if low < f.seen { // another cluster, to which the database was restored
			low = 0
		}
		f.seen = low
		return nil
	})
}

// foldDue folds the sources with many deltas, or all that have some. A source that is folded or counted elsewhere
// waits.
func (f *Folder) foldDue(ctx context.Context, all bool) error {
	var chosen []source
	for s, n := range f.waiting {
		if n >= foldMany || all {
			chosen = append(chosen, s)
		}
	}

	for batch := range slices.Chunk(chosen, foldBatch) {
		folded, err := foldSources(ctx, f.DB, batch)
		if err != nil {
			return err
		}
		for _, s := range folded {
			delete(f.waiting, s)
		}
	}

	return nil
}
