// Package broadcasts sends one mail to an audience.
//
// # Life of a broadcast
//
//	draft        being written
//	scheduled    waits for send_at; it can still be changed
//	preparing    the audience is being frozen
//	sending      the emails of the audience are written and sent
//	paused       nothing of it is sent; Resume returns it to the status before
//	sent         every email is settled
//	cancelled    stopped for good; what was sent before stays
//
// # Audience
//
// A job freezes the audience by steps of some thousand contacts, each of which is one transaction with its position: a
// row for each contact that gets the mail, and a count by reason of those that do not. Then it writes emails for the
// rows that are due, some dozen at a time and never more than Ahead in advance, so that a pause and a change of a cap
// take effect soon and the queue stays short. The email, its job and the mark of its row are one transaction. The
// unique index email_broadcast_once holds that no address gets the mail twice.
//
// # Why broadcasts are not enrolments
//
// An enrolment has a state, a group, a history and statistics of steps, of which a broadcast needs none: its audience
// is one row of five columns each, it needs no tick, and it is never moved to another version. A pause is a status of
// one row that marks look at, where a sequence moves its groups.
//
// # Pause and cancel
//
// A mark takes a shared advisory lock of its broadcast (Guard) and looks at the status. Pause and Cancel take the
// exclusive lock, so the order of the commits decides. The job of an email of a paused broadcast ends; Resume adds the
// jobs anew.
package broadcasts
