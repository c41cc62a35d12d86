// Package removal deletes mailboxes that may be in use.
//
// A mailbox is in use while something waits to be sent from it: an open enrolment of a sequence that is active or
// paused, a broadcast that is neither a draft nor finished, or an email that is not sent. Such a mailbox is deleted
// only together with naming another one that takes all of that over, in one transaction.
//
// Whoever writes something for a mailbox to send holds mailboxes.LockUse meanwhile, and a removal LockRemoval: either
// the removal finds what was written, or the writer finds the mailbox gone. A removal locks sequences, enrolments and
// broadcasts before it takes that lock, as whoever changes them does.
package removal
