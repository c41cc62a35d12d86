// Package asynqx holds what the product knows about the inside of asynq: its keys in Redis, its scripts, the shape of
// their replies, and the texts of its errors and log lines. No other package may know them.
//
// It was read from asynq v0.26.0 (Version): internal/base/base.go for the keys, internal/rdb/rdb.go for the scripts,
// internal/rdb/inspect.go for the errors. The tests run asynq itself against a Redis and compare every script, key and
// reply with testdata/scripts.golden, so an upgrade of asynq that changes one of them fails here first. After an
// upgrade, read the changed scripts, and renew the golden file with -update.
//
// # Hooks
//
// asynq sends one script per task. Two go-redis hooks batch them: Client collects the scripts that enqueue tasks, and
// OnPoll lets the caller answer or repeat the scripts that take tasks. Each recognizes its script by its keys; an
// unknown script passes unchanged.
package asynqx
