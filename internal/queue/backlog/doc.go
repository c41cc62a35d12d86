// Package backlog exports how many jobs of each lane wait, run and are dead, and the age of the oldest one. The counts
// are read from Postgres, so that every process exports the same numbers: queries take their maximum, never their sum.
package backlog
