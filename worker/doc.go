// Package worker runs jobs. It runs asynq servers that deliver tasks, and beside them the relay, the feeder and the
// lease extender, which keep Postgres and asynq in step. README.md describes the protocol; internal/queue has the
// transitions of the rows.
//
// A delivery is only a hint to check a job. The worker claims the job in Postgres first, and writes the run's outcome
// there before it reports to asynq.
package worker
