// Package demo fills an org with the half year of package plan: the objects as they are today, and the events,
// timeline entries, scores and webhook deliveries that led there, with their times.
//
// The objects are written by the operations that imports and batches use, which check them and keep what hangs on them:
// words, tags, scores, snapshots for the scoring model. What these operations date now, the history functions of the
// packages date back.
//
// # Resuming
//
// A plan is a pure function of the seed, the number of contacts and its end, and so is the id of each object. The plan
// is written in steps. Each step is one transaction that also writes the progress to the org's setting "demo", so a
// fill that was killed continues with the next step, and a fill that has ended does nothing.
//
//	fill.go      Fill: the steps and the progress
//	chunk.go     a step in the middle: some hundred actions of the plan, and their events
//	people.go sales.go work.go   the actions on companies and contacts, deals, notes and tasks
//	hooks.go     webhook endpoints and their past deliveries
//	outreach.go mails.go   a mailbox, sequences and broadcasts, whose mails go to the sandbox
//	ends.go      the first and the last step
package demo
