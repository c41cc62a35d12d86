package queue

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// What a line may be told, each as a statement of the caller's transaction, whose org is the line's. A line that
// was told nothing has Slots slots and neither holds nor rate.
const (
	holdSQL = `
INSERT INTO job_line (org_id, id, held_until, probing) VALUES ($1, $2, now() + $3::interval, true)
ON CONFLICT (org_id, id) DO UPDATE SET held_until = excluded.held_until, probing = true`
	// Rows that a worker is about to claim are locked and left to it.
	takeBackSQL = `
UPDATE job SET wake_at = NULL, due = true
FROM (
	SELECT org_id, id FROM job
	WHERE lane = ANY ($3::text[]) AND org_id = $1 AND line = $2 AND state = 'ready' AND wake_at IS NOT NULL AND owner IS NULL
	FOR UPDATE SKIP LOCKED
) AS free
WHERE job.org_id = free.org_id AND job.id = free.id`
	freeSQL  = `UPDATE job_line SET held_until = NULL, probing = false WHERE org_id = $1 AND id = $2 AND (probing OR held_until IS NOT NULL)`
	rateSQL  = `INSERT INTO job_line (org_id, id, rate) VALUES ($1, $2, $3) ON CONFLICT (org_id, id) DO UPDATE SET rate = excluded.rate, next_at = now()`
	slotsSQL = `INSERT INTO job_line (org_id, id, slots) VALUES ($1, $2, $3) ON CONFLICT (org_id, id) DO UPDATE SET slots = excluded.slots`
	dropSQL  = `DELETE FROM job_line WHERE org_id = $1 AND id = $2`
)

// HoldLine lets no job of the line begin until d from now, by Postgres's clock, and from then on one at a time,
// until FreeLine. Its jobs wait meanwhile, those whose retry is due too, and spend no attempt: slots that nobody
// runs on are taken back, so that their deliveries find nothing. Runs that have begun go on. Call it from a run of
// a call-out kind, whose row is its own, and never from a Tx kind of the same line. d <= 0 holds nothing and asks
// for the single slot alone.
func HoldLine(tx *postgres.Tx, line id.ID, d time.Duration) {
	tx.Queue(holdSQL, tx.Org(), line, d)
	tx.Queue(takeBackSQL, tx.Org(), line, laneNames())
}

// FreeLine ends what HoldLine began: the line has all its slots again.
func FreeLine(tx *postgres.Tx, line id.ID) { tx.Queue(freeSQL, tx.Org(), line) }

// SetLineRate gives the line at most so many slots per second, evenly; nil for any number. What stood still is
// made up for half a second at most. perSecond is at least 1.
func SetLineRate(tx *postgres.Tx, line id.ID, perSecond *int) {
	tx.Queue(rateSQL, tx.Org(), line, perSecond)
}

// SetLineSlots says how many jobs of the line may be in Redis or running; at least 1. No line gets more than half
// of Lines.
func SetLineSlots(tx *postgres.Tx, line id.ID, slots int) { tx.Queue(slotsSQL, tx.Org(), line, slots) }

// DropLine forgets what the line was told. Its jobs, if there are any, go on.
func DropLine(tx *postgres.Tx, line id.ID) { tx.Queue(dropSQL, tx.Org(), line) }

func laneNames() []string {
	var names []string
	for _, lane := range Lanes() {
		names = append(names, string(lane))
	}
	return names
}
