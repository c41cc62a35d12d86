// Package store implements the job table as workers, the relay, the feeder and operators use it.
//
// Each method of Store is one transition of the protocol in one short transaction. The caller makes the changes in
// asynq after the method returns; this package does not import asynq or Redis. worker/README.md describes the protocol.
//
// # Layout
//
// claim.go has claims and leases, finish.go completions, due_scan.go the relay's scans, sweep.go the comparison with
// asynq's archive, supersede.go new task IDs, and backlog.go counts. sql.go has the parts of statements that several
// packages use. hooks.go calls the hooks of kinds when a job changes without a run. aliases.go has the names of kinds
// that are being renamed; jobs/README.md describes how. vacuum.go removes dead rows.
//
// # Costs
//
// Claims of many runs share a statement, and so do completions without effects (BatchCompleter). Each claim and each
// completion succeeds or fails on its own. Runs that are done and share a queue.Writer also share a transaction, which
// checks the fences first and then writes the effects of the runs that still hold their jobs. On any error each run is
// completed separately. A batch that follows another waits until 3 ms have passed or enough items have arrived
// (batch.Batcher); the first after a pause is sent at once.
//
// Statements that look up rows by key, or in the order of an index, force index plans. The table's size swings between
// empty and millions of rows, so a cached plan could become a sequential scan. Claims, lease extensions, scans and
// feeding commit asynchronously: wake_at recovers what a crash of Postgres loses, and a lost owner is a fence that
// refuses. Adds and completions commit synchronously.
package store
