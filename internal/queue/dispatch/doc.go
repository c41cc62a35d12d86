// Package dispatch enqueues jobs in asynq.
//
// CommitEnqueuer enqueues committed jobs from the process that added them, best effort. Enqueuer adds many tasks to
// asynq in one pipeline. Dispatcher also resolves every conflict with an existing task; the relay, the feeder and
// operators use it. A delivery is only a hint: the relay finds in Postgres each job that was not enqueued.
//
// # Task payload
//
// A task's payload is {"id", "org"}. The protocol needs only the id. The org is included because a worker claims under
// the row policies and must know the org before it can see the row. The payload decides nothing else: with a wrong org
// the claim finds no row.
package dispatch
