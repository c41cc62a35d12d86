// Package scheduler enqueues jobs by the clock: it turns the ticks of a timetable into jobs.
//
// Any number of schedulers may run. A tick is a row, and only the transaction that inserts the row adds the job. A tick
// therefore happens once, however late or often it is offered. A tick is identified by its planned time, and happens
// when Postgres's clock reaches that time; the clocks of the processes do not matter.
//
// If Postgres's clock is set ahead, the ticks until then are missed ones, which happen by the policies of their
// entries. If it is set back, its ticks of the future are removed within a minute, so that they neither hold up the
// schedule nor are missing when their time comes.
package scheduler
