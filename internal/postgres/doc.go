// Package postgres provides access to the database: a pool with sessions under row policies, and a transaction helper
// that sets the org, batches statements into few round trips, and hands on notes after the commit.
//
// # Why a custom transaction
//
// Most writes insert rows without waiting for a result: ids and times are made in Go. So Tx.Queue only collects
// statements. A transaction without any Query or Exec is sent as one implicit-transaction batch, which saves about four
// fifths of the cost of sending the same statements one by one. The first Query or Exec turns it into an ordinary
// transaction and sends the queued statements first.
//
// BatchedGet serves the most common read, one row by its key. Reads of many requests share a pipeline on one session,
// each with its own transaction and org. A point read mostly costs system calls and sleeping backends; with 32
// connections sharing gives 1.6 times the reads per second.
//
// # Why JIT compilation is off
//
// Sessions run with jit=off, which behind a pooler is set in each transaction. Statements that find a few rows by key
// disable plan types (enable_seqscan and its kin). Postgres then adds 1e10 to the cost of a plan without an
// alternative, which exceeds jit_above_cost, so a server with default settings would compile each such statement for
// seconds. Each statement that disables a plan type also turns jit off, so that it is safe in any session.
//
// # How a look-up by key finds its key
//
// Nearly every index starts with org_id. Where the planner believes that an org has one row, each of them costs as
// little as the primary key, and a look-up by key may read the whole org. Four rules prevent that:
//   - The statistics expect many rows of an org: migration 0126 sets n_distinct of org_id in each table, which also
//     holds for an org that has grown since the last ANALYZE.
//   - A look-up of many keys joins unnest with a LATERAL subquery that ends in LIMIT 1, which the planner cannot turn
//     into a join with the org's rows.
//   - A join repeats $1, not another table's org_id: for an outer join the planner multiplies both conditions and
//     expects one row.
//   - A table with a partition for each day is planned for the actual ids (plan_cache_mode = force_custom_plan),
//     between the first and the last id, so that a plan names and locks the days of these ids alone. An UPDATE of many
//     keys, whose table cannot be a LATERAL subquery, names the ids as a list: it would read a range of ids whole.
//
// # The commit
//
// Only the close of the batch reports the commit, because a deferred constraint fails only there. Tx returns nil only
// after it, and only then are notes handed on.
//
// # Outages
//
// A round trip that finds its session ended, and cannot have had an effect, is sent once more in another session: the
// first one of a transaction, each one of a ReadTx, and a batch of which the server has executed nothing. A commit
// whose outcome is unknown is never repeated. Everything else is an error that Away or TimedOut reports, and callers of
// the API get 503. Writes knows whether the server takes writes, and moves the pools to the new primary after a
// failover.
package postgres
