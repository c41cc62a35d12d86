package store

// Statements by key give org_id and id, and say what else they demand of the row by the terms below, from which the
// planner cannot prove the predicate of a partial index. So the primary key is the only index that fits, whatever the
// statistics say. By "wake_at IS NOT NULL AND state = 'ready'" the index of slots would fit as well, and a plan that
// was made while few slots were held would later read all of them for each row.
const (
	// hasSlot is true for a job with a slot.
	hasSlot = ` CASE WHEN job.state = 'ready' THEN job.wake_at END IS NOT NULL`
	// isDead names a second, empty state for the same reason.
	isDead = ` job.state IN ('dead', '')`
	// watched is true for a job that the relay looks at some time, ready or dead.
	watched = ` coalesce(job.wake_at, 'infinity') < 'infinity'`
	// lapsed is true for a job that no run holds any more. Versions without lease_until extend a lease by wake_at.
	lapsed = ` (job.owner IS NULL OR greatest(job.wake_at, job.lease_until) <= now())`
)

// Statements about many rows find each of them by its key in a LATERAL subquery, which leaves the planner no other
// order, and lock it. They write it by its ctid, which the lock holds. A plain join by the key may as well read the
// table, or all rows of an org, in the order of the primary key, and look for each in the list. A row that another
// transaction updates between the statement's snapshot and its lock has a new ctid, so that the statement misses it:
// callers for whom a missed row is wrong repeat it by key.

// The settings below are sent before statements whose plans are kept though the table's size swings between none and
// millions of rows.

// ByKeySQL keeps them from scanning an empty table from end to end, to go on doing so when it is full.
const ByKeySQL = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)`

// anyPlanSQL, later in the transaction, ends what ByKeySQL excludes.
const anyPlanSQL = "RESET enable_seqscan"

// ByKeysSQL is ByKeySQL for statements about many rows, with one plan for all lists of keys. By default the server
// replans for each list, which costs more than executing the statement.
const ByKeysSQL = ByKeySQL + OnePlanSQL

// OnePlanSQL after one of these makes plans once for all arguments.
const OnePlanSQL = `, set_config('plan_cache_mode', 'force_generic_plan', true)`

// InOrderSQL is for statements that read the first rows in the order of an index. They read neither all rows that fit,
// to sort them, nor bitmaps of entries, which do not remember what they found dead.
const InOrderSQL = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true),
	set_config('enable_incremental_sort', 'off', true)`

// AsyncCommitSQL after one of these also makes the commit asynchronous. It is for transactions that record temporary
// ownership: wake_at recovers what a crash of Postgres loses, and the fence admits only the last claim.
const AsyncCommitSQL = ", set_config('synchronous_commit', 'off', true)"

// RefColumns is the columns of a queue.Ref.
const RefColumns = ` job.org_id, job.id, job.kind, job.lane, job.max_attempts, job.dispatch`

// NotPausedSQL is true for a job whose lane, kind and org are not paused.
const NotPausedSQL = `
	NOT EXISTS (SELECT FROM job_pause p WHERE (p.scope, p.name) IN (('lane', job.lane), ('kind', job.kind),
	('org', job.org_id::text)))`

// fromFloor is true for a job whose wake_at is not before the floor: see PublishFloor.
const fromFloor = ` wake_at >= coalesce((SELECT max(at) FROM job_floor), '-infinity')`

// LockedSQL is true for a job with a slot and a row lock held by an open transaction: the run of a Tx kind, which has
// no owner, or briefly a scan of the row. The row's xmax is that transaction, and each transaction locks its own id, so
// pg_locks shows it. The check takes no lock, because a claim would skip a locked row.
const LockedSQL = ` (job.wake_at IS NOT NULL AND job.state = 'ready' AND job.xmax IN (SELECT transactionid
	FROM pg_locks WHERE locktype = 'transactionid' AND granted))`
