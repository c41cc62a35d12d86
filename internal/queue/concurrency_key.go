package queue

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Statements that set a concurrency key's limits. Each runs in the caller's transaction, in the key's org. A key
// without settings has Slots slots, a closed circuit and no rate limit.
const (
	holdSQL = `
INSERT INTO job_line (org_id, id, held_until, held_at, probing) VALUES ($1, $2, now() + $3::interval, now(), true)
ON CONFLICT (org_id, id) DO UPDATE SET held_until = excluded.held_until, held_at = excluded.held_at, probing = true`
	// Rows that a worker is claiming are locked and are skipped.
	takeBackSQL = `
UPDATE job SET wake_at = NULL, due = true
FROM (
	SELECT org_id, id FROM job
	WHERE lane = ANY ($3::text[]) AND org_id = $1 AND line = $2 AND state = 'ready' AND wake_at IS NOT NULL
	AND owner IS NULL
	FOR UPDATE SKIP LOCKED
) AS free
WHERE job.org_id = free.org_id AND job.id = free.id`
	// A circuit that is open for longer stays so.
	delaySQL = `
INSERT INTO job_line AS l (org_id, id, held_until, held_at) VALUES ($1, $2, now() + $3::interval, now())
ON CONFLICT (org_id, id) DO UPDATE SET held_until = excluded.held_until, held_at = excluded.held_at
WHERE l.held_until IS NULL OR l.held_until < excluded.held_until`
	freeSQL = `UPDATE job_line SET held_until = NULL, probing = false WHERE org_id = $1 AND id = $2 AND (probing
		OR held_until IS NOT NULL)`
	rateSQL = `INSERT INTO job_line (org_id, id, rate) VALUES ($1, $2, $3) ON CONFLICT (org_id, id) DO UPDATE
		SET rate = excluded.rate, next_at = now()`
)

// OpenCircuit starts no job of the key for d, by Postgres's clock, and after that only one at a time until
// CloseCircuit. Meanwhile the key's jobs wait, including those with a due retry, and spend no attempt: slots without a
// run are taken back, so that their deliveries find nothing to claim. Runs that have started continue. Call OpenCircuit
// from a run of a call-out kind, because its row has an owner; it must not be called from a Tx kind with the same key.
// If d <= 0 jobs continue at once, one at a time.
func OpenCircuit(tx *postgres.Tx, line id.ID, d time.Duration) {
	tx.Queue(holdSQL, tx.Org(), line, d)
	tx.Queue(takeBackSQL, tx.Org(), line, LaneNames())
}

// DelayKey starts no job of the key for d, like OpenCircuit. After that the key has the slots that it had before.
func DelayKey(tx *postgres.Tx, line id.ID, d time.Duration) {
	tx.Queue(delaySQL, tx.Org(), line, d)
	tx.Queue(takeBackSQL, tx.Org(), line, LaneNames())
}

// CloseCircuit ends OpenCircuit: the key has all its slots again.
func CloseCircuit(tx *postgres.Tx, line id.ID) { tx.Queue(freeSQL, tx.Org(), line) }

// SetKeyRate limits the key to perSecond slots per second, evenly spaced; nil removes the limit. A feeder that stood
// still makes up for at most half a second. perSecond must be at least 1.
func SetKeyRate(tx *postgres.Tx, line id.ID, perSecond *int) {
	tx.Queue(rateSQL, tx.Org(), line, perSecond)
}
