// Package scheduler enqueues jobs by the clock: it turns the ticks of a timetable into jobs.
//
// Any number of schedulers may run. A tick is a row, and only the transaction that inserts the row adds the job. A tick
// therefore happens once, however late or often it is offered. The processes' clocks need not agree: a tick is
// identified by its planned time, and happens when the first clock reaches that time.
package scheduler
