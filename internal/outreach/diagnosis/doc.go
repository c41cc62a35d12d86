// Package diagnosis interprets the reply of a mail server: what it speaks of, and whether the address is dead.
//
// It is the only interpreter of replies. The SMTP session, the report that comes back by mail and the event of a
// provider give it the same three things: the reply code, the enhanced status code and the text.
//
// # What a reply speaks of
//
//	recipient   the address, or its mailbox: unknown, full, closed
//	sender      the mailbox that sends, its account, its domain or its server: a daily limit, an address that is not
//	            its own, a block. Every other mail would be refused the same way
//	message     this mail: its size, its content, its attachments
//	network     the way: no connection, a loop, a name server, a server that is busy
//
// Only a reply about the recipient may mean that the address is dead, and only a permanent one.
//
// # Order
//
// Codes that only senders get come first, since providers write any text behind them. Then the words decide, because
// many servers send one code for everything: 5.7.1 with "user unknown" is an unknown user, 5.1.1 with "over quota" is a
// full mailbox. A reply whose words say nothing is interpreted by its enhanced code, then by its reply code.
//
// # Sources
//
// Enhanced codes: RFC 3463, RFC 4954 (authentication), RFC 7372 (SPF, DKIM, DMARC, reverse DNS), RFC 7505 (null MX),
// and IANA's registry of enhanced status codes. Codes of Exchange Online: Microsoft's page "Email non-delivery reports
// in Exchange Online". Words: Google's "Gmail SMTP errors and codes", Yahoo's "SMTP error codes", Microsoft's
// "Troubleshooting for outlook.com postmasters", Amazon's "SMTP response codes in Amazon SES", and the messages in the
// sources of Postfix, Exim, Sendmail, qmail and Courier. Each row of the tables has its example in the tests.
package diagnosis
