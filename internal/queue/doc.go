// Package queue implements durable jobs. A job is a row in Postgres that asynq delivers.
//
// A job kind is one value, made by Define and used by both sides: the producer adds a job in its own transaction, and
// the worker handles it. Postgres decides; an asynq delivery is only a hint. worker/README.md describes the whole
// protocol. The SQL in this package names the protocol's transitions, T1 to T16.
//
// # Layout
//
// kind.go, add.go and concurrency_key.go are the producer's side; run.go is the handler's. aliases.go has the names of
// kinds that are being renamed; jobs/README.md describes how. CommitEnqueuer enqueues committed jobs in asynq from the
// process that added them, best effort. Store is the job table as workers and the relay use it. The Feeder
// is in feed.go, round.go and refill.go; allocate.go has the rule by which the feeder assigns slots. Enqueuer adds many tasks to
// asynq at a time. Dispatcher also resolves every conflict with an existing task.
//
// # Task payload
//
// A task's payload is {"id", "org"}. The protocol needs only the id. The org is included because a worker claims under
// the row policies and must know the org before it can see the row. The payload decides nothing else: with a wrong org
// the claim finds no row.
//
// # Slots
//
// A job that is in Redis or running holds a slot. Slots are counted from rows. In each lane an org has MaxInFlight
// slots, times its weight, for jobs without a concurrency key. Each concurrency key, such as a webhook endpoint, has up
// to Slots slots. All keys of an org together have Lines slots, times the org's weight. A key may take one more slot
// while it holds fewer than the org's keys leave free, so busy keys never take all slots: nine keys hold ten each, a
// tenth key gets five, and a further key still gets one. A slow endpoint therefore does not delay the others. Jobs with
// a key do not count towards MaxInFlight, and jobs without a key do not count towards Lines.
//
// T1 assigns a slot at once if one is free, nothing is paused, the circuit is closed, the lane is not full in Redis,
// and no job of the same key (or of the org's jobs without a key) is already waiting. The feeder assigns all other
// slots. It gives each slot to the org that holds the fewest slots for its weight, within that org to the key that
// holds the fewest, and within that key to the job that was due first. Ties go to the one that has waited longest. The
// feeder needs no state from earlier rounds because the held slots carry it. An org with long jobs gets as many slots
// as the others, not as many jobs. Orgs share the feeder's capacity in proportion to their weights.
//
// The feeder finds waiting jobs by stepping from group to group (org, key, kind) in one index. An open circuit, an org
// at its limit or a paused kind costs one probe, however many rows wait in it. Jobs that are not due yet are in another
// index; one small write moves each of them when it becomes due. An advisory lock allows one feeder per lane at a time,
// so that the counts of a round still hold when the round assigns slots. The single probe of an open circuit and the
// rate limits depend on this.
//
// Between rounds there are refills (refill.go). When a run ends in an org with more due jobs than its keys have slots,
// a refill serves only such orgs, so that a key with short runs does not wait for the next full round.
//
// # Costs
//
// Claims of many runs share a statement, and so do completions without effects (BatchCompleter). Each claim and each
// completion succeeds or fails on its own. Runs that are done and share a Writer also share a transaction, which checks
// the fences first and then writes the effects of the runs that still hold their jobs. On any error each run is
// completed separately. Enqueues and asynq's task completions share pipelines. A batch that follows another waits until
// 3 ms have passed or enough items have arrived (Batcher); the first after a pause is sent at once.
//
// T1's slot check is one statement within the insert and costs about as much as the row. Its result therefore also
// reports whether eight more slots are free. If they are, the process adds the next jobs of the same org, lane and kind
// without the check: up to eight, for 200 ms (slotCache). The first job after a pause gives no such credit. A producer
// that adds jobs one after another never exceeds the limit this way.
//
// Statements that look up rows by key, or in the order of an index, force index plans. The table's size swings between
// empty and millions of rows, so a cached plan could become a sequential scan. Claims, lease extensions, scans and
// feeding commit asynchronously: wake_at recovers what a crash of Postgres loses, and a lost owner is a fence that
// refuses. Adds and completions commit synchronously.
package queue
