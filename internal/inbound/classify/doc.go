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
//	mail of the button with which a mail program unsubscribes     unsubscribe_request
//	Auto-Submitted and its kin, a receipt                         auto_reply
//	List-Id without a reference to another mail                   list
//	mail of a daemon, or without sender or text                   unknown
//	subject that a program writes, or a text that is a notice     auto_reply
//	a text that asks for no more mails                            unsubscribe_request
//	anything else                                                 human
//
// Precedence: bulk, X-Auto-Response-Suppress and a null return path alone make no automatic reply: lists, forwarding
// rules and servers add them to what people write. An answer that a person may have written is no bounce.
//
// # Words
//
// The words of our own mail say nothing: its subject is taken from the subject of the answer, its lines from the text.
// The words of a notice count if the whole text is one. A text that is one in part, or may be, is a person's mail of
// which the class is not sure; so is one that may ask for no more mails.
//
// A request for no more mails is read in sentences: a verb, its object, and what denies it. Somebody who cannot leave
// another supplier, or asks to stay, asks for nothing; a request for somebody else is for a person to read.
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
