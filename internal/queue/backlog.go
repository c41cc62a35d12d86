package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Stage is where a job stands, as Backlogs counts it.
type Stage string

// The stages.
const (
	StageDelayed Stage = "delayed" // waits for its time
	StageWaiting Stage = "waiting" // waits for a slot
	StagePushed  Stage = "pushed"  // has one, and nobody runs it yet
	StageRunning Stage = "running"
	StageDead    Stage = "dead" // kept after its last failure
)

// Stages lists them all.
func Stages() []Stage {
	return []Stage{StageDelayed, StageWaiting, StagePushed, StageRunning, StageDead}
}

// Backlog is what is there of one lane.
type Backlog struct {
	Lane   Lane
	Counts map[Stage]int
	Oldest time.Duration // how long the ready job that was due first is overdue, but for what its line keeps back
}

// Open is how many jobs are not done and not dead.
func (b *Backlog) Open() int {
	return b.Counts[StageDelayed] + b.Counts[StageWaiting] + b.Counts[StagePushed] + b.Counts[StageRunning]
}

// exactly is up to where jobs are counted one by one. Beyond it the planner's estimate stands, which costs
// nothing and is as new as the last ANALYZE.
const exactly = 10_000

// The parts of the table that are counted, each of which one index holds.
var parts = map[Stage]string{
	StageDelayed: `FROM job WHERE state = 'ready' AND wake_at IS NULL AND NOT due AND lane = $1`,
	StageWaiting: `FROM job WHERE state = 'ready' AND wake_at IS NULL AND due AND lane = $1`,
	StagePushed:  `FROM job WHERE state = 'ready' AND wake_at IS NOT NULL AND owner IS NULL AND NOT` + locked + ` AND lane = $1`,
	StageRunning: `FROM job WHERE state = 'ready' AND wake_at IS NOT NULL AND (owner IS NOT NULL OR` + locked + `) AND lane = $1`,
	StageDead:    `FROM job WHERE state = 'dead' AND lane = $1`,
}

// delayedSQL counts the delayed of all lanes together, since their index knows no lane.
const delayedSQL = `
SELECT lane, count(*) FROM (SELECT lane FROM job WHERE state = 'ready' AND wake_at IS NULL AND NOT due LIMIT $1 + 1) AS counted GROUP BY lane`

// oldestSQL looks at each group's first job, and at what has a slot. What its own line keeps back, held or by its
// rate, is not late.
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
			AND (org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind) > (w.org_id, w.line, w.kind)
		ORDER BY org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind, run_at LIMIT 1
	) AS n
)
SELECT coalesce(greatest(extract(epoch FROM now() - min(run_at)), 0), 0)::float8 FROM (
	(SELECT w.run_at FROM (SELECT * FROM walk LIMIT 5000) AS w WHERE NOT EXISTS (
		SELECT FROM job_line l WHERE l.org_id = w.org_id AND l.id = w.line AND (l.probing OR l.rate IS NOT NULL OR l.held_until > now())))
	UNION ALL
	(SELECT run_at FROM job WHERE lane = $1 AND state = 'ready' AND wake_at IS NOT NULL LIMIT 5000)
) AS heads`

// Backlogs counts every lane, however much there is: exactly up to ten thousand jobs of a state, by the planner's
// estimate beyond. Delayed jobs are ten thousand of all lanes together.
func (l *Ledger) Backlogs(ctx context.Context) ([]Backlog, error) {
	var out []Backlog
	err := l.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		delayed, all, err := countDelayed(ctx, tx)
		if err != nil {
			return err
		}
		for _, lane := range Lanes() {
			b := Backlog{Lane: lane, Counts: map[Stage]int{StageDelayed: delayed[lane]}}
			for stage, part := range parts {
				switch {
				case stage == StageDelayed && all:
					continue
				case stage == StageDelayed: // their index knows no lane: a count would read all of them for each
					b.Counts[stage], err = estimate(ctx, tx, part, lane, delayed[lane])
				default:
					b.Counts[stage], err = count(ctx, tx, part, lane)
				}
				if err != nil {
					return fmt.Errorf("count %s: %w", stage, err)
				}
			}
			var age float64
			if err := tx.QueryRow(ctx, oldestSQL, []any{string(lane)}, &age); err != nil {
				return fmt.Errorf("oldest: %w", err)
			}
			b.Oldest = time.Duration(age * float64(time.Second))
			out = append(out, b)
		}
		return nil
	})
	return out, err
}

// countDelayed answers whether it counted all of them.
func countDelayed(ctx context.Context, tx *postgres.Tx) (map[Lane]int, bool, error) {
	rows, err := tx.Query(ctx, delayedSQL, exactly)
	if err != nil {
		return nil, false, err
	}
	out, sum := map[Lane]int{}, 0
	var lane Lane
	var n int
	_, err = pgx.ForEachRow(rows, []any{&lane, &n}, func() error { out[lane] = n; sum += n; return nil })
	return out, sum <= exactly, err
}

func count(ctx context.Context, tx *postgres.Tx, part string, lane Lane) (n int, err error) {
	if err := tx.QueryRow(ctx, "SELECT count(*) FROM (SELECT "+part+fmt.Sprintf(" LIMIT %d) AS counted", exactly+1), []any{string(lane)}, &n); err != nil || n <= exactly {
		return n, err
	}
	return estimate(ctx, tx, part, lane, n)
}

// estimate is the planner's, which is never less than one, or least where that is more.
func estimate(ctx context.Context, tx *postgres.Tx, part string, lane Lane, least int) (int, error) {
	// EXPLAIN takes no parameters; lanes are names of ours. Of what is locked the planner knows nothing: as nearly nobody.
	part = strings.NewReplacer("$1", "'"+string(lane)+"'", " AND NOT"+locked, "", " OR"+locked, "").Replace(part)
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

// Holder is an org and about how many of its jobs wait for a slot.
type Holder struct {
	Org  id.ID
	Jobs int
}

// A sample of some 20,000 rows' pages tells who has most.
const topSQL = `
SELECT org_id, (count(*) * 100 / $1::float8)::int FROM job TABLESAMPLE SYSTEM ($1::float8)
WHERE state = 'ready' AND wake_at IS NULL AND due GROUP BY org_id ORDER BY 2 DESC LIMIT 5`

// Top answers the five orgs with the most jobs that wait for a slot, from a sample where there are many.
func (l *Ledger) Top(ctx context.Context) ([]Holder, error) {
	var out []Holder
	err := l.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		var rows float64
		if err := tx.QueryRow(ctx, "SELECT greatest(reltuples, 0)::float8 FROM pg_class WHERE oid = 'job'::regclass", nil, &rows); err != nil {
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

// Stops are what keeps jobs from running by somebody's decision.
type Stops struct {
	Lanes       map[Lane]bool // that are paused
	Kinds, Orgs int
	Lines       int // that are held now
}

const stopsSQL = `
SELECT scope, name FROM job_pause
UNION ALL
SELECT 'lines', count(*)::text FROM job_line WHERE held_until > now()`

// Stops reads the pauses and counts the held lines.
func (l *Ledger) Stops(ctx context.Context) (Stops, error) {
	s := Stops{Lanes: map[Lane]bool{}}
	err := l.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, stopsSQL)
		if err != nil {
			return err
		}
		var scope, name string
		_, err = pgx.ForEachRow(rows, []any{&scope, &name}, func() error {
			switch scope {
			case "lane":
				s.Lanes[Lane(name)] = true
			case "kind":
				s.Kinds++
			case "org":
				s.Orgs++
			default:
				_, err := fmt.Sscan(name, &s.Lines)
				return err
			}
			return nil
		})
		return err
	})
	return s, err
}
