// Package queue is the durable job: a row in Postgres that asynq delivers.
//
// A job kind is one value, made by Define and used by both sides: the asker adds to it inside its own
// transaction, the worker handles it. Postgres decides and asynq only hints; worker/README.md tells the whole
// protocol, and the SQL in this package names its transitions, T1 to T16.
package queue
