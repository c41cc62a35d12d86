package store

// ByKeySQL is sent before statements that find a few rows by key or in the order of an index. The table's size swings
// between small and large, with mostly dead rows in both cases. From such statistics the planner may choose a hash join
// over the whole table, or another index plus a sort, and a prepared statement keeps that plan. These settings force
// index plans.
const ByKeySQL = `SELECT set_config('jit', 'off', true), set_config('enable_hashjoin', 'off', true),
	set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true),
	set_config('enable_incremental_sort', 'off', true)`

// onceSQL, after ByKeySQL, also forces a generic plan for all lists of keys. By default the server replans for each
// list, which costs more than executing the statement.
const onceSQL = ", set_config('plan_cache_mode', 'force_generic_plan', true)"

// AsyncCommitSQL also makes the commit asynchronous. It is for transactions that record temporary ownership: wake_at
// recovers what a crash of Postgres loses, and the fence admits only the last claim.
const AsyncCommitSQL = ByKeySQL + ", set_config('synchronous_commit', 'off', true)"

// RefColumns is the columns of a queue.Ref.
const RefColumns = ` job.org_id, job.id, job.kind, job.lane, job.max_attempts, job.dispatch`

// NotPausedSQL is true for a job whose lane, kind and org are not paused.
const NotPausedSQL = `
	NOT EXISTS (SELECT FROM job_pause p WHERE (p.scope, p.name) IN (('lane', job.lane), ('kind', job.kind),
	('org', job.org_id::text)))`

// LockedSQL is true for a job with a slot and a row lock held by an open transaction: the run of a Tx kind, which has
// no owner, or briefly a scan of the row. The row's xmax is that transaction, and each transaction locks its own id, so
// pg_locks shows it. The check takes no lock, because a claim would skip a locked row.
const LockedSQL = ` (job.wake_at IS NOT NULL AND job.state = 'ready' AND job.xmax IN (SELECT transactionid
	FROM pg_locks WHERE locktype = 'transactionid' AND granted))`
