package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Stops is what keeps jobs from running: operators' pauses and open circuits.
type Stops struct {
	Lanes       map[queue.Lane]bool // paused lanes
	Kinds, Orgs int
	Lines       int // concurrency keys with an open circuit
	// Due is false if Wake and Reap would find nothing now.
	Due bool
	// First is the lowest wake_at that is not before from; zero: there is none.
	First time.Time
	// Floor is the published floor; zero: none is.
	Floor time.Time
	// Ahead is true if jobs have a wake_at that only a clock ahead can have stamped: see WakeAhead.
	Ahead bool
	// Clock is the time by the clock of Postgres.
	Clock time.Time
}

const stopsSQL = `
SELECT scope, name FROM job_pause
UNION ALL
SELECT 'lines', count(*)::text FROM job_line WHERE held_until > now()
UNION ALL
SELECT 'clock', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint::text
UNION ALL
SELECT 'floor', (extract(epoch FROM max(at)) * 1000000)::bigint::text FROM job_floor HAVING max(at) IS NOT NULL
UNION ALL
SELECT CASE WHEN wake_at <= now() + ` + keepAhead + ` THEN 'due' ELSE 'first' END,
	(extract(epoch FROM wake_at) * 1000000)::bigint::text
FROM (SELECT wake_at FROM job WHERE wake_at >= $1 ORDER BY wake_at LIMIT 1) AS one
UNION ALL
SELECT 'ahead', '' FROM (
	SELECT FROM job WHERE wake_at > now() + ` + furthest + ` ORDER BY wake_at DESC LIMIT 1
) AS last`

// Stops reads the pauses, counts the concurrency keys with an open circuit, and looks for due rows whose wake_at is not
// before from.
func (s *Store) Stops(ctx context.Context, from time.Time) (Stops, error) {
	found := Stops{Lanes: map[queue.Lane]bool{}}
	kinds := map[string]bool{}
	err := s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(InOrderSQL)
		rows, err := tx.Query(ctx, stopsSQL, from)
		if err != nil {
			return err
		}
		var scope, name string
		_, err = pgx.ForEachRow(rows, []any{&scope, &name}, func() error {
			switch scope {
			case "lane":
				found.Lanes[queue.Lane(name)] = true
			case "kind":
				kinds[s.Aliases.Name(name)] = true
			case "org":
				found.Orgs++
			case "due", "first":
				found.Due = scope == "due"
				found.First, err = parseMicroseconds(name)
				return err
			case "floor":
				found.Floor, err = parseMicroseconds(name)
				return err
			case "ahead":
				found.Ahead = true
			case "clock":
				found.Clock, err = parseMicroseconds(name)
				return err
			default:
				_, err := fmt.Sscan(name, &found.Lines)
				return err
			}
			return nil
		})
		return err
	})
	found.Kinds = len(kinds)
	return found, err
}

// parseMicroseconds returns the time that a number of microseconds since 1970 stands for.
func parseMicroseconds(digits string) (time.Time, error) {
	n, err := strconv.ParseInt(digits, 10, 64)
	return time.UnixMicro(n), err
}

// mirrorSQL pauses the alias of each paused kind.
const mirrorSQL = `
INSERT INTO job_pause (scope, name)
SELECT 'kind', a.alias FROM unnest($1::text[], $2::text[]) AS a (alias, name)
JOIN job_pause p ON p.scope = 'kind' AND p.name = a.name
ON CONFLICT DO NOTHING`

// MirrorPauses pauses the alias of each paused kind. An operator of an earlier release has paused the name alone, and a
// later release writes rows under the alias.
func (s *Store) MirrorPauses(ctx context.Context) error {
	if len(s.Aliases) == 0 {
		return nil
	}
	var aliases, names []string
	for alias, name := range s.Aliases {
		aliases, names = append(aliases, alias), append(names, name)
	}
	return s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(mirrorSQL, aliases, names)
		return nil
	})
}
