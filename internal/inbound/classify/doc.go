// Package classify says what an incoming mail is: what a person has written, what a program has answered, what became
// of a mail that was sent. Its functions are pure.
//
// # Order
//
// The first rule that matches decides:
//
//	feedback report (RFC 5965)                                    complaint
//	delivery status notification (RFC 3464), read by its actions  bounce, delivery_report
//	mail of a daemon whose text says what was not delivered       bounce
//	Auto-Submitted and its kin, a receipt                         auto_reply
//	subject of an automatic reply, or a text that reads like one  auto_reply
//	List-Id without a reference to another mail                   list
//	a short text that asks for no more mails                      unsubscribe_request
//	mail of a daemon, or without sender or text                   unknown
//	anything else                                                 human
//
// Precedence: bulk and X-Auto-Response-Suppress alone make no automatic reply: lists and forwarding rules add them to
// what people write.
//
// # Bounces
//
//	hard     there is no such address, or its domain takes no mail: it is suppressed
//	policy   the mail or its sender was refused: a problem of the sender, the address stays
//	soft     the mailbox is full, the server gave up, or the reason is not legible
//	delayed  not delivered yet; the server goes on trying
//
// The enhanced status code decides where it is specific. Many servers send 5.0.0, 5.5.0 or no code, and some send a
// wrong one, so the text of the server's reply is read as well.
package classify
