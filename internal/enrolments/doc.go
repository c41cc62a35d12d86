// Package enrolments enrols contacts in sequences and executes their steps.
//
// # Enrolment
//
// Enrol takes up to a thousand ids and returns a result for each. A Batch takes a segment or a filter: a job walks it
// in the order of creation, in pieces of one transaction each, so that it can be killed, continued and cancelled. A
// contact is skipped with a reason, and never enrolled twice at once: a unique index allows one open enrolment per
// contact and sequence, and another one allows one open enrolment per contact of the sequences that leave out contacts
// in other ones (exclusive). So these rules hold between concurrent transactions, too.
//
// The cost of an enrolment, measured on the step of a batch, is its rows: the enrolment with six indexes, an event with
// two, and an entry of the timeline. The first transition of the history is columns of the enrolment, not a fourth row.
//
// Enter enrols the contacts that have entered the segment of a sequence. Package segments writes a row for each entry
// in the transaction that announces it, and Enter deletes the row in the transaction that enrols the contact.
//
// # Steps
//
// An enrolment is due in a group (package states): its mailbox, the schedule of its version, and its zone. The tick
// (package tick) looks at the groups that are due, and takes as many enrolments as their mailboxes may send now,
// follow-ups before first steps. Windows, caps, gaps, holds and paused sequences hold groups back, not enrolments.
// Steps that send nothing are due in the group of their sequence, which nothing but a pause holds.
package enrolments
