// Package queue is the durable job: a row in Postgres that asynq delivers.
//
// A job kind is one value, made by Define and used by both sides: the asker adds to it inside its own
// transaction, the worker handles it. Postgres decides and asynq only hints; worker/README.md tells the whole
// protocol, and the SQL in this package names its transitions, T1 to T15.
//
// # What is where
//
// kind.go, add.go and line.go are the asker's side, run.go the handler's. Pusher hands committed jobs to asynq,
// best effort, from the process that added them. Ledger is the job table as workers, relay and feeder see it; its
// feeder is feed.go and refill.go, and share.go the rule by which they give out slots. Enqueuer and Courier are the way into
// asynq: the one many at a time, the other with the answer to every conflict.
//
// # What a task carries
//
// A task's payload is {"id", "org"}. The org is in it, beside the id that the protocol asks for, because a
// worker claims under the row policies like everybody else and must know the org before it may see the row. A
// payload never decides more than that: with a wrong org the claim finds nothing.
//
// # Who gets a slot
//
// A job that is in Redis or running holds a slot; slots are counted from rows. In each lane an org has Window of
// them for jobs without a line, times its weight. A line, such as a webhook endpoint, has Slots of its own, and all
// lines of an org have Lines together, times its weight, under one rule: a line may take one more while it holds
// fewer than its org's lines leave free. So lines that fill up stop before they have everything: nine of them stand
// full at ten each, a tenth finds room for five, and whichever comes next finds one; what takes seconds at one
// endpoint does not hold up the next one. Lines do not count in the window, nor the window in them.
//
// A slot is given at once by T1 where it is free, nothing is paused or held, the lane is not full in Redis, and
// nothing of the same line (or of the org's jobs without one) waits already. Everything else is the feeder's, which
// gives each slot to the org that holds the fewest for its weight, there to the line that holds the fewest, and
// there to the job that was due first; of equals, to the one that waits longest. Slots held are the memory of that:
// a round needs to know nothing of the one before it, and an org whose jobs take long gets as many slots as the
// others, not as many jobs. Orgs share the feeder's room in proportion to their weights.
//
// What waits is found by stepping from group to group (org, line, kind) in one index, so that a held line, a full
// window or a paused kind costs one probe, however many rows wait in it; and jobs whose time has not come are in
// another index, from which they are moved by one small write each when it has. One feeder at a time feeds a lane,
// by an advisory lock: what it counted holds when it gives, which a line's single probe and its rate rest on.
//
// Between its rounds there are refills (refill.go): when a run ends of an org whose lines had more than their slots, a
// round is held for such orgs alone, so that a line of short runs does not wait for the next round of all.
//
// # What a job costs
//
// Claims of many runs share a statement, and so do verdicts without effects (Clerk); each stands or falls alone. Runs
// that are done and whose effects one Writer writes for all of them share a transaction, which takes the fences first
// and then writes the effects of those that held; on any error each goes by itself. Pushes, and asynq's ends of tasks,
// share pipelines. Where one of these trips follows another it waits until 3 ms have passed, or many are there (Crowd);
// what comes after a pause goes at once.
//
// T1's rule is one statement inside its insert, and costs about as much as the row. So its answer says whether eight
// more slots are free, and if they are the process adds the next jobs of that org, lane and kind unasked, as many and for
// 200 ms (credits); the first job for a while gives none. Who adds one after the other never overdraws a window so.
//
// Statements that go by a key, or by the order of an index, say so to the planner: the table is empty at one time and
// large the next, and a plan for the one reads all of the other. Claims, extensions, looks and feeding do not wait for
// the disk: what a crash of Postgres takes of them comes back by wake_at, and an owner that was lost is a fence that
// refuses. Additions and verdicts wait.
package queue
