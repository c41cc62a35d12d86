// Package emails keeps the emails that an org sends: one row per intended mail.
//
// # Life of an email
//
//	from           what                                             to
//	-              Create                                           planned, or scheduled
//	scheduled      its time has come                                planned
//	planned        suppressed, archived contact, org read-only,     cancelled (reason)
//	               quota of the month, a day late, a person
//	planned        no connection, 4yz before the dot                planned; the job tries again
//	planned        5yz before the dot                               failed
//	planned        Mark                                             transmitting
//	transmitting   2yz                                              sent
//	transmitting   4yz, 5yz after the dot                           planned, failed
//	transmitting   no reply, or its run is gone without one         unknown
//	unknown        found in the Sent folder; a person               sent
//	unknown        twice absent from a Sent folder that proves it   planned
//	unknown        a person                                         failed (not_sent)
//	unknown        a reply of the run that marked it, written late  sent, failed
//
// # The mark
//
// A server may have accepted a mail as soon as the final dot was written. So the body is written first, then Mark
// commits the status transmitting, and then the dot is written (internal/outreach/transport). Mark is a compare-and-set
// on the status planned, by a run that still holds its job: of the runs that have read an email with Begin, one marks
// it, and its fence is the email's from then on. In the same transaction it re-checks what may have changed since:
// suppressions of the address and its domain, the contact, the org, the state of the mailbox, its cap of any 24 hours
// and those of the org (internal/orgsending), and the emails of the month. Suppressions are serialised with marks by
// advisory locks, so the order of the commits decides: a suppression that is committed before the mark stops the mail.
// The email of a sequence also locks its enrolment, which must still be sending it (internal/enrolments/states): a
// reply that is committed before the mark stops the mail, and the outcome of the mail moves the enrolment on. A
// one-to-one email that no cap counts is marked in one round trip; if that finds an obstacle, a second transaction
// finds out which.
//
// Nothing that has the status transmitting is sent again without evidence. The Message-ID, an HMAC of the email's id by
// the org's key, is fixed at the insert, and so is all that the bytes depend on: a second attempt sends the same mail.
//
// A run whose worker is stopped between Mark and the dot, and continues after its lease, may finish its own dot. Nobody
// else sends the mail meanwhile, because the status is not planned any more. package transport bounds what is left.
//
// # A reply that Postgres could not take
//
// A run that got the final reply of a server and cannot write the outcome, because Postgres is away for longer than its
// lease, leaves the reply in a journal of its process and of the home (replyjournal). Replay writes it later. The fence
// of the mark decides: an email that a person has settled, or that was planned again, is left alone.
package emails
