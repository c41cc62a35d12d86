// Package inbound keeps the mails that come back to the mailboxes of an org: replies, automatic answers, bounces,
// complaints and reports.
//
// # Way of a mail
//
//	Take       inserts the message with its identity and the sealed mail, and adds its job
//	Process    reads it (parse), says what it is (classify), finds the email that it is about, and acts on it
//	SetClass   is a person's correction, or settles what was in doubt: it acts again
//	Opine      is the opinion of a language model on a message of which the rules are not sure, where one is
//	           configured
//
// A mail that arrives by several ways is one message, since its identity is the hash of its Message-ID; without exactly
// one, of what its author has written; without a Date or with a header beyond the limits, of its bytes (package parse).
// Of mails with the same Message-ID, those with the same From, Date, Subject and decoded parts are copies.
// Process runs once for a message, in the transaction that ends its job.
//
// # Which email it is about
//
// The first rule that matches decides. Mail from a mailbox of the org is never matched.
//
//	token       the address that it was sent to is the email's own, or has the local part of its Message-ID behind a
//	            plus sign
//	references  a report returns the Message-ID of an email, or the id that the server has given it; or In-Reply-To or
//	            References name one of them. The id of a server can be guessed: the sender must be the recipient or
//	            have the same business domain
//	sender      the sender, or the address that a report is about, is a contact to whom the mailbox has sent an email
//	            within 90 days
//	none        stored, and nothing more
//
// A Message-ID is an HMAC of the email's id, so nobody can name it who has not seen the mail. An answer from another
// address counts, and is the contact's. If it asks for no more mails, the other address is suppressed, and a person
// says whether the contact's is to be.
//
// # What follows
//
//	in doubt              the enrolments of the contact are paused; nothing else until the class is settled
//	human                 email.replied and replied_at
//	bounce                email.bounced and bounced; hard, or the third soft one within 72 hours with none delivered
//	                      between: the address is suppressed for all mail; delayed: nothing
//	complaint             email.complained, complained_at, and the address is suppressed for all mail
//	delivery_report       email.delivered and delivered_at
//	unsubscribe_request   the address is suppressed for marketing, and contact.unsubscribed
//	auto_reply, list      nothing
//
// A human answer is also a fact of the contact (email_fact), which its score counts.
//
// Providers of outgoing mail tell of the same by events (package provider, Apply), which have the same effects as the
// reports that come by mail. What is known of an email already has no effect again.
//
// email.received is announced for each message that is not from a mailbox of the org. No mail is ever answered by the
// platform, so there are no loops. An email whose fate was unknown is sent if an answer or a report names it.
//
// Locks are taken in the order of marks, after that of soft bounces: suppressions, the mailbox, the email (package
// emails).
package inbound
