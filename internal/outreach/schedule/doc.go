// Package schedule computes when automated mail may be sent: the windows of a schedule in a time zone, and the delays
// between steps.
//
// # Windows and changes of the clock
//
// A window of a date begins with the first instant of that date whose wall clock shows From or later, and ends after
// the last instant whose wall clock shows less than To. So where the clock is set forward over From or To, the window
// begins or ends with the first instant after the gap; a window that lies in the gap has no instants on that date.
// Where the clock is set back, an hour is repeated: a window begins in the first repetition and ends in the second.
//
// time.Date is not used to resolve wall clocks: for a time in a gap its result lies before or after the gap, depending
// on the zone, and even on the day before, where the gap is at midnight.
//
// # Delays
//
// Minutes and hours are elapsed time. Days keep the wall clock: a day after 09:00 is 09:00 of the next date, even if 23
// or 25 hours have elapsed. Business days are days that skip Saturdays, Sundays and the holidays of the schedule. A
// wall clock that does not exist on the resulting date becomes the first instant after the gap, and one that is
// repeated the first of both.
package schedule
