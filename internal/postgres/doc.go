// Package postgres is the door to the database: a pool whose sessions are under the row policies, and one
// transaction helper that sets the org, sends what it can in one round trip, and tells after the commit what
// was promised in it.
//
// # Why a transaction of its own
//
// A write is mostly "these rows, and nothing to wait for": ids and times are made in Go. So Tx.Queue only
// collects, and a transaction that never asked for an answer travels as one implicit-transaction batch,
// which a measurement of ours put at four fifths of the cost of the same statements one by one. The first
// Query or Exec makes it an ordinary transaction, and takes along what was queued.
//
// Point is for the commonest read, one row by its key: reads of many requests share a pipeline on one session,
// each in a transaction and an org of its own. What a point read costs is mostly system calls and sleeping
// backends; at 32 connections sharing them gave 1.6 times the reads per second.
//
// # Why no session compiles its queries
//
// Sessions run with jit=off, in each transaction behind a pooler. Statements that find a few rows by key turn plan types
// off (enable_seqscan and its kin); Postgres then adds 1e10 to the cost of a plan that has none of another type, which is
// above jit_above_cost, so that a server with default settings compiles each such statement for seconds. Each statement
// that turns a plan type off also turns jit off, so that it does no harm in any session.
//
// # The commit
//
// Only the close of the batch reports the commit, because a deferred constraint fails there and nowhere
// else; Tx returns nil after it and no sooner, and only then are notes handed on.
package postgres
