// Package queue is the durable job: a row in Postgres that asynq delivers.
//
// A job kind is one value, made by Define and used by both sides: the asker adds to it inside its own
// transaction, the worker handles it. Postgres decides and asynq only hints; worker/README.md tells the whole
// protocol, and the SQL in this package names its transitions, T1 to T15.
//
// # What is where
//
// kind.go and add.go are the asker's side, run.go the handler's. Pusher hands committed jobs to asynq, best
// effort, from the process that added them. Ledger is the job table as workers, relay and feeder see it.
// Enqueuer and Courier are the way into asynq: the one many at a time, the other with the answer to every
// conflict.
//
// # What a task carries
//
// A task's payload is {"id", "org"}. The org is in it, beside the id that the protocol asks for, because a
// worker claims under the row policies like everybody else and must know the org before it may see the row. A
// payload never decides more than that: with a wrong org the claim finds nothing.
package queue
