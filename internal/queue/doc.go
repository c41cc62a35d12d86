// Package queue implements durable jobs. A job is a row in Postgres that asynq delivers.
//
// A job kind is one value, made by Define and used by both sides: the producer adds a job in its own transaction, and
// the worker handles it. Postgres decides; an asynq delivery is only a hint. worker/README.md describes the whole
// protocol. The SQL of the queue names the protocol's transitions, T1 to T16.
//
// # Layout
//
// This package is what code that adds or handles jobs uses. It does not import asynq or Redis. kind.go, add.go and
// concurrency_key.go are the producer's side; run.go, claimed.go and hook.go are the handler's. The other packages
// import it, each only those above its own line:
//
//	store     the job table: claims, completions, scans, counts
//	feed      which waiting job gets a slot
//	dispatch  the way into asynq
//	operator  operators' actions, pauses and searches
//
// dispatch imports store but not feed; operator imports dispatch and store but not feed.
//
// # Slots
//
// A job that is in Redis or running holds a slot. Slots are counted from rows. In each lane an org has MaxInFlight
// slots, times its weight, for jobs without a concurrency key. Each concurrency key, such as a webhook endpoint, has up
// to Slots slots. All keys of an org together have Lines slots (RemoteLines in the lane Remote), times the org's
// weight. A key may take one more slot while it holds fewer than the org's keys leave free, so busy keys never take all
// slots: nine keys hold ten each, a tenth key gets five, and a further key still gets one. A slow endpoint therefore
// does not delay the others. Jobs with a key do not count towards MaxInFlight, and jobs without a key do not count
// towards Lines.
//
// T1 assigns a slot at once if one is free, nothing is paused, the circuit is closed, the lane is not full in Redis,
// and no job of the same key (or of the org's jobs without a key) is already waiting. The feeder (package feed) assigns
// all other slots.
//
// # Rows of ended jobs
//
// While anybody's old snapshot is open (a dump, an analyst's session, a standby with feedback), ended jobs stay in the
// indexes, and a count of slots through them grows by the minute. Every row with a slot has a wake_at that the relay
// moves ahead when it is due, so all slots lie behind the lowest one. The relay finds that floor with its scan and
// publishes it every few seconds (store.PublishFloor); job_wake and the feeder count from there on, and the relay's
// scans begin a minute before it, except once per lease. A row below the floor, of a transaction that was open for very
// long, is not counted as a slot, and is found by that scan. Whether older jobs wait for the same slots, job_wake
// decides by those of the last ten seconds. The feeder's walk still passes the rows of jobs that waited.
//
// # Clocks
//
// Postgres's clock decides when a job is due; the clocks of the processes do not matter. While it is ahead, jobs that
// are planned for the time until then run early. After it was set back, nothing that it had stamped waits for it:
//
//   - A job that was due once stays due: column due. The feeder does not look at its run_at.
//   - A job whose wake_at or lease lies further ahead than any lease is due for a check: store.WakeAhead, in every scan
//     of the relay.
//   - A retry, a snooze or a pause (In) has delayed_at, the time from which its delay counts. If that lies ahead, the
//     delay begins anew; a circuit (held_at) ends: store.EndDelays, which a worker calls when it starts, every few
//     minutes, and when its relay reads a time before the last one.
//   - A rate (job_line.next_at) that is further ahead than its interval does not count: package feed.
//
// A time that a person or a plan has set (At) stays. Use In, not At, for a pause. Package waits has the rules of the
// product's tables.
//
// # Costs
//
// T1's slot check is one statement within the insert and costs about as much as the row. Its result therefore also
// reports whether eight more slots are free. If they are, the process adds the next jobs of the same org, lane and kind
// without the check: up to eight, for 200 ms (slotCache). The first job after a pause gives no such credit. A producer
// that adds jobs one after another never exceeds the limit this way.
//
// Adds commit synchronously, as completions do.
package queue
