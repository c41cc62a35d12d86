// Package outbox is the mail server of sandbox mailboxes. It speaks SMTP inside the process, keeps the mails that it
// accepts for its page, and sends none on. Some recipients act, by their local part at any domain:
//
//	bounce@   550 5.1.1 at RCPT: there is no such user
//	soft@     451 4.2.1 at RCPT: try again later
//	slow@     accepted, but the reply to the final dot takes 5 seconds
//	drop@     accepted, but the connection is closed in place of the reply
//
// Others answer within two seconds, by the way of any incoming mail, to the mailbox that the mail came from:
//
//	bounce-later@   a delivery status notification: 5.1.1, there is no such user
//	reply@          a person's reply
//	ooo@            an automatic reply of someone who is back in a week
//	complain@       a report of spam
//
// Everyone else accepts at once. A mail that was accepted is committed before the reply, so the kept mails are the log
// of what the server has taken, whatever happened to the reply.
//
// Mails are signed with a DKIM key that is derived from the org's key and published nowhere: the page verifies the
// signature with that key, which proves that the mail is intact and nothing about a domain.
package outbox
