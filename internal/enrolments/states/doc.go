// Package states has the states of enrolments and the transitions between them that mails, replies, suppressions and
// changes of contacts cause. It depends on no package that sends mails or keeps sequences, so that those can call it.
//
// # States
//
//	from                      what                                          to
//	-                         enrolled                                      active; pending: the sequence is paused
//	pending, active           the email of a step was written               sending
//	pending, active           another step is done, and there are more      active
//	sending                   the email was sent, and there are more        active
//	active, sending           the last step is done                         finished
//	sending                   the email was cancelled                       active, paused or an end, by the reason
//	sending                   the email failed                              failed; bounced: there is no such address
//	any open, finished        a person replied                              replied
//	any open                  suppressed                                    unsubscribed, bounced
//	any open                  hard bounce                                   bounced
//	any open                  goal reached, deal won                        goal_met
//	any open                  removed by a person, contact archived         removed
//	any open                  out of office, an answer in doubt, a person   paused
//	paused                    its time has come, the doubt is settled,      active
//	                          a person
//
// An ended enrolment never sends. Every transition but the first one, which the enrolment has itself, writes a row of
// enrolment_history with its cause. Every transition announces its event in the same transaction.
//
// # Locks
//
// The order of locks is: suppression, mailbox, enrolment, email. A mark locks the enrolment of its email and checks its
// state (MayTransmit), so the order of the commits decides between a reply and the next step.
//
// # Groups
//
// A row of send_group has wake_at, the time at which the tick looks at it. Due lowers it. The tick raises it with the
// lock of TryRaise, which it gets only while no transaction that has called Due is under way; so no due step is missed.
// It raises no wake_at that Wake has changed since the tick read the status of the sequence.
package states
