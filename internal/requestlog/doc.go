// Package requestlog keeps the API requests of each org for seven days: what was called, by which key or user, with
// which status, and how long it took.
//
// # Writing
//
// A request adds its Entry to a Recorder in memory and waits for nothing. The Recorder writes entries of all orgs
// together, at most Interval after they came, in one statement of the system role. It holds a bounded number: where
// more come than Postgres takes, and where Postgres is away, entries are dropped and counted, and no request fails or
// waits. Close writes what is left when a process ends. A process that is killed loses what came in its last Interval:
// the log is for people who look for a request, and nothing is computed from it.
//
// # What of a body is kept
//
// Of a request that succeeded nothing. Of one that failed Redact keeps the names of the members and the values of the
// faulty ones, so that an integrator sees what was wrong. Every other value is "[redacted]", and so are values whose
// name or form is that of a secret. Requests for logins and those that carry files or forms keep no body.
//
// # Erasing
//
// Erase, in the transaction that purges a contact, removes the kept parts of failures whose path named the contact or
// that have one of its values. The caller calls Recorder.Flush before, so that what this process holds in memory is in
// the table by then. What another process has held for less than Interval is not: it may write a value that its request
// carried in the moment of the purge, which is gone with its day.
package requestlog
