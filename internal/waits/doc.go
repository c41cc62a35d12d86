// Package waits ends waits that last longer than they may because a clock was set back.
//
// Postgres's clock decides when a row is due. It may be set back, by hand or by a failover to a server with another
// clock, by an hour for example. Without this package, a probe that was planned for a minute later would then wait for
// an hour and a minute. The rule: a wait that is longer than the longest delay of its kind, or that was begun in the
// future, is over.
//
// columns has the rule of each table. A row whose wait has ended early costs a look: the code that finds the row due
// decides by its other columns whether there is something to do. Where many rows may become due, they do within a
// minute or a few, not at once.
//
// # Which waits these are
//
// Every column of a time in the schema has a class, in classes_test.go; a new one without a class fails the test.
//
//   - A wait that Postgres's clock sets is in columns, if its rows show that it is too long, or once the clock is known
//     to have been set back.
//   - A wait that is bounded where it is read needs no rule: the next slot of a concurrency key, the rate and the gap
//     of a mailbox, the step of a redrive, the verdict on a followed link.
//   - A time that a person or a plan has set is right, whatever the clock was: a scheduled email or broadcast, the
//     delay of a step, the end of a pause, a trial. It stays. Steps are planned by the clock of the process or by the
//     earlier of both clocks, so a clock of Postgres that is ahead does not move them.
//   - An expiry may come later by as much as the clock was ahead, and a record of the past has no effect.
//
// Jobs are package queue/store's: WakeAhead looks at jobs that Postgres should have looked at, and EndDelays shortens
// retries, snoozes, pauses and open circuits. Ticks of the timetable are package scheduler's.
//
// A clock that is ahead decides as ever: what is planned for the next hour is due. There is nothing to do about it.
//
// # When
//
// A worker calls EndLate when it starts, every few minutes, and at once when it reads a time from Postgres that is
// before the last one; then again a minute later, since a transaction that was open meanwhile stamps by the time at
// which it began. The calls cost a few scans of small tables.
package waits
