// Package contacts keeps the people that an org knows: their rows, what they are found by, and the rules of a change.
//
// Every function works inside the caller's transaction, which is under one org. The caller composes the rest: it
// brings the scorer as a Rate, announces the event and asks for the scoring job.
//
// # Round trips
//
// Create only queues statements, so that a creation is one round trip. What it cannot know in the process (is the
// stage on the org's list, is an attribute's type the defined one, is a segment dynamic) is asked by statements of
// the same batch, whose answer ends the transaction with a fault. A change first reads and locks the row: two.
package contacts
