package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Stage is a job's state as Backlogs counts it.
type Stage string

// The stages.
const (
	StageDelayed Stage = "delayed" // not due yet
	StageWaiting Stage = "waiting" // waits for a slot
	StagePushed  Stage = "pushed"  // has a slot, not running yet
	StageRunning Stage = "running"
	StageDead    Stage = "dead" // kept after its last failure
)

// Stages returns all stages.
func Stages() []Stage {
	return []Stage{StageDelayed, StageWaiting, StagePushed, StageRunning, StageDead}
}

// Backlog is the job counts of one lane.
type Backlog struct {
	Lane   queue.Lane
	Counts map[Stage]int
	Oldest time.Duration // how long the first ready job is overdue; ignores limited concurrency keys
}

// Open returns how many jobs are neither done nor dead.
func (b *Backlog) Open() int {
	return b.Counts[StageDelayed] + b.Counts[StageWaiting] + b.Counts[StagePushed] + b.Counts[StageRunning]
}

// exactly is the number of jobs up to which counts are exact. Above it the planner's estimate is used, which costs
// nothing and is as recent as the last ANALYZE.
const exactly = 10_000

// parts are the counted parts of the table. One index covers each.
var parts = map[Stage]string{
	StageDelayed: `FROM job WHERE state = 'ready' AND wake_at IS NULL AND NOT due AND lane = $1`,
	StageWaiting: `FROM job WHERE state = 'ready' AND wake_at IS NULL AND due AND lane = $1`,
	StagePushed: `FROM job WHERE state = 'ready' AND` + fromFloor + ` AND owner IS NULL AND NOT` + LockedSQL +
		` AND lane = $1`,
	StageRunning: `FROM job WHERE state = 'ready' AND` + fromFloor + ` AND (owner IS NOT NULL OR` + LockedSQL +
		`) AND lane = $1`,
	StageDead: `FROM job WHERE state = 'dead' AND lane = $1`,
}

// delayedSQL counts the delayed jobs of all lanes together, because their index does not contain the lane.
const delayedSQL = `
SELECT lane, count(*) FROM (SELECT lane FROM job WHERE state = 'ready' AND wake_at IS NULL AND NOT due
LIMIT $1 + 1) AS counted GROUP BY lane`

// oldestSQL reads each group's first job and the jobs with a slot. A job held back by its own concurrency key, by an
// open circuit or a rate limit, does not count as late.
const oldestSQL = `
WITH RECURSIVE walk AS (
	(SELECT org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid) AS line, kind, run_at FROM job
	WHERE lane = $1 AND state = 'ready' AND wake_at IS NULL AND due
	ORDER BY org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind, run_at LIMIT 1)
	UNION ALL
	SELECT n.org_id, n.line, n.kind, n.run_at
	FROM walk w CROSS JOIN LATERAL (
		SELECT org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid) AS line, kind, run_at FROM job
		WHERE lane = $1 AND state = 'ready' AND wake_at IS NULL AND due
			AND (org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind) > (w.org_id, w.line,
			w.kind)
		ORDER BY org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind, run_at LIMIT 1
	) AS n
)
SELECT coalesce(greatest(extract(epoch FROM now() - min(run_at)), 0), 0)::float8 FROM (
	(SELECT w.run_at FROM (SELECT * FROM walk LIMIT 5000) AS w WHERE NOT EXISTS (
		SELECT FROM job_line l WHERE l.org_id = w.org_id AND l.id = w.line AND (l.probing OR l.rate IS NOT NULL
		OR l.held_until > now())))
	UNION ALL
	(SELECT run_at FROM job WHERE lane = $1 AND state = 'ready' AND` + fromFloor + ` LIMIT 5000)
) AS heads`

// Backlogs counts the jobs of every lane at a bounded cost. A count is exact up to ten thousand jobs of a stage and the
// planner's estimate above that. For delayed jobs the ten thousand apply to all lanes together.
func (s *Store) Backlogs(ctx context.Context) ([]Backlog, error) {
	var out []Backlog
	err := s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		delayed, all, err := countDelayed(ctx, tx)
		if err != nil {
			return err
		}
		for _, lane := range queue.Lanes() {
			b := Backlog{Lane: lane, Counts: map[Stage]int{StageDelayed: delayed[lane]}}
			for stage, part := range parts {
				switch {
				case stage == StageDelayed && all:
					continue
				case stage == StageDelayed: // the index has no lane: a count would scan it all
					b.Counts[stage], err = estimateCount(ctx, tx, part, lane, delayed[lane])
				default:
					b.Counts[stage], err = countExactly(ctx, tx, part, lane)
				}
				if err != nil {
					return fmt.Errorf("count %s: %w", stage, err)
				}
			}
			var age float64
			if err := tx.QueryRow(ctx, oldestSQL, []any{string(lane)}, &age); err != nil {
				return fmt.Errorf("read oldest job: %w", err)
			}
			b.Oldest = time.Duration(age * float64(time.Second))
			out = append(out, b)
		}
		return nil
	})
	return out, err
}

// countDelayed counts the delayed jobs by lane and reports whether it counted all of them.
func countDelayed(ctx context.Context, tx *postgres.Tx) (map[queue.Lane]int, bool, error) {
	rows, err := tx.Query(ctx, delayedSQL, exactly)
	if err != nil {
		return nil, false, err
	}
	out, sum := map[queue.Lane]int{}, 0
	var lane queue.Lane
	var n int
	_, err = pgx.ForEachRow(rows, []any{&lane, &n}, func() error {
		out[lane] = n
		sum += n
		return nil
	})
	return out, sum <= exactly, err
}

func countExactly(ctx context.Context, tx *postgres.Tx, part string, lane queue.Lane) (n int, err error) {
	if err := tx.QueryRow(ctx, "SELECT count(*) FROM (SELECT "+part+fmt.Sprintf(" LIMIT %d) AS counted", exactly+1),
		[]any{string(lane)}, &n); err != nil || n <= exactly {
		return n, err
	}
	return estimateCount(ctx, tx, part, lane, n)
}

// estimateCount returns the planner's estimate minus one, since the planner never estimates less than one row, but at
// least least.
func estimateCount(ctx context.Context, tx *postgres.Tx, part string, lane queue.Lane, least int) (int, error) {
	// EXPLAIN takes no parameters; the lane names are our own constants. The planner cannot estimate locked rows, so
	// the condition is left out: almost no rows are locked.
	part = strings.NewReplacer("$1", "'"+string(lane)+"'", " AND NOT"+LockedSQL, "", " OR"+LockedSQL, "").Replace(part)
	var plan []byte
	if err := tx.QueryRow(ctx, "EXPLAIN (FORMAT JSON) SELECT "+part, nil, &plan); err != nil {
		return 0, err
	}
	var plans []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal(plan, &plans); err != nil || len(plans) == 0 {
		return 0, fmt.Errorf("read plan: %w", err)
	}
	return max(least, int(plans[0].Plan.Rows)-1), nil
}

// Holder is an org and the approximate number of its jobs that wait for a slot.
type Holder struct {
	Org  id.ID
	Jobs int
}

// topSQL samples the pages of about 20,000 rows.
const topSQL = `
SELECT org_id, (count(*) * 100 / $1::float8)::int FROM job TABLESAMPLE SYSTEM ($1::float8)
WHERE state = 'ready' AND wake_at IS NULL AND due GROUP BY org_id ORDER BY 2 DESC LIMIT 5`

// Top returns the five orgs with the most jobs that wait for a slot. It samples large tables.
func (s *Store) Top(ctx context.Context) ([]Holder, error) {
	var out []Holder
	err := s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		var rows float64
		if err := tx.QueryRow(ctx, "SELECT greatest(reltuples, 0)::float8 FROM pg_class WHERE oid = 'job'::regclass",
			nil, &rows); err != nil {
			return err
		}
		found, err := tx.Query(ctx, topSQL, min(100, 100*20_000/max(rows, 1)))
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(found, pgx.RowToStructByPos[Holder])
		return err
	})
	return out, err
}
