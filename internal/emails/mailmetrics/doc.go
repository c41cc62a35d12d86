// Package mailmetrics exports what becomes of mails, and what waits: emails by outcome, held mailboxes, broadcasts
// under way, and how late incoming mails are read and sequences go on.
//
// Outcomes are counted in the process whose transaction committed them, so queries add them up. The gauges are read
// from Postgres: every process exports the same numbers, and queries take their maximum, never their sum.
package mailmetrics
