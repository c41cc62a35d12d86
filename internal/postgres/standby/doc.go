// Package standby reads from a streaming standby of the primary, and from the primary itself while the standby cannot
// be used.
//
// # What may be read from a standby
//
// Reads that do not decide a write: the event feed, statistics, files of exports, the contacts of an export, the
// examples of a training. Lists and single resources stay on the primary, because a caller expects to see its own
// writes there, and so does every read whose result decides what is written.
//
// A Source has three ways to read. ReadTx returns rows that may be MaxLag old. ReadFresh and Instead return at least
// what the primary had committed when they were called: they ask the primary for the position of its log and wait
// until the standby has replayed it. So an export contains the contact that was created before the export was
// requested, and of two such reads the later one never returns older rows.
//
// # Fallback
//
// Any error of a read on the standby is followed by the same read on the primary, and only the
// primary's result counts: a row that the standby does not have yet, a read that was canceled because it held up the
// replay (a conflict with recovery), a table that a migration has just created, a server that was killed. So the
// function that reads may be called twice, and must begin anew each time.
//
// Run probes both servers every second. A standby that does not answer the probe, is not a standby of this primary, or
// lags, is not used until a later probe succeeds. If it does not answer, the reads that wait for it are canceled at
// once and go to the primary; a server that hangs delays them by about three seconds.
//
// # How the lag is measured
//
// pg_last_xact_replay_timestamp grows old while the primary writes nothing, and the positions that the standby has
// received say nothing if its connection to the primary is cut. So the probe records the position of the primary's log
// with the time of this process. The lag is the age of the newest record that the standby has replayed. No clocks of
// different machines are compared.
//
// The standby must replicate the log of the primary. A logical replica has its own transaction ids, which would give
// the event feed another order; the probe compares the system identifiers of both servers and refuses it.
package standby
