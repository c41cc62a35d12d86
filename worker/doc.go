// Package worker runs jobs: asynq servers that deliver, and beside them the relay, the feeder and the extender
// that keep Postgres and asynq in step. README.md tells the protocol; the rows' transitions are in
// internal/queue.
//
// A delivery is only a hint to look at a job. It is claimed in Postgres first, and what the run came to is
// written there before asynq hears of it.
package worker
