// Package scheduler asks for what is due by the clock: it turns ticks of a timetable into jobs.
//
// Any number of schedulers may run. A tick is a row, and only the transaction that inserts it adds the job; so
// it happens once, however late or often it is offered. The clocks of the processes need not agree: a tick's
// name is its planned time, and it comes when the first clock reaches it.
package scheduler
