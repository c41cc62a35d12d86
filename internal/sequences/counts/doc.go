// Package counts keeps the counts of enrolments and emails of each sequence and each broadcast, so that a read of them
// costs the same whatever their history is.
//
// # Deltas
//
// Triggers on enrolment and email (migrations 0139 to 0141) add a row to outreach_delta for each change that moves a
// count. They are in the database because processes of earlier releases write, too. A delta is only inserted, so no
// writer waits for another one. Triggers of updates are by row with a WHEN clause: an update that moves no count, such
// as of due_at, costs next to nothing, whereas a trigger by statement would copy its rows. New enrolments come by the
// hundred in a statement, and have one delta for all.
//
// Emails that wait or are being transmitted are counted by deltas, too, and not live by a partial index: while an old
// transaction is open, such an index keeps an entry of each email that ever had the status.
//
// # Folding
//
// Folder adds deltas to the counts in outreach_count and deletes them. Whatever deltas it takes, counts and remaining
// deltas together are right, because it does both in one transaction, and Read reads both in one statement. Its rows
// have a version: the transaction id below which all deltas are in them. Read takes the highest version of a source and
// the deltas from there on. Both are looked up from the end of their keys, so the dead rows of earlier versions and
// deltas are not visited, however long an old transaction keeps them.
//
// The version must be such that no delta below it is committed later. It is the horizon of events (package events, "The
// end of the feed"), below which all registered writers have ended, so a foreign transaction that is open for long does
// not hold it up. The delta of a transaction that has not registered has the largest number instead of its id: it is
// read until it is folded.
//
// In a restored database transaction ids begin anew. A version above all ids of the cluster is ignored, deltas are read
// from the beginning, and the next fold writes a version of this cluster.
//
// # The first count
//
// A source without counts is counted live, as all were before: Read needs no row to be there. Triggers and the
// migration enter each source in outreach_uncounted, and the job jobs/sequencecount counts it: what there is less the
// deltas, in one snapshot. A fold holds the advisory lock of its sources, and the first count that of its source, so
// that none deletes deltas that the other one has counted.
//
// # The earliest mark
//
// The time of the first mark cannot be subtracted. Counts have the earliest time that was added, and the earliest one
// that was taken away. If the latter is not later, Read looks the time up among the emails, and so does the next fold,
// which forgets what was taken away.
package counts
