// Package transport hands mail to SMTP servers and reports exactly what is known of its fate.
//
// # The mark
//
// A server has accepted a mail once it has read the final dot of DATA, whether or not its reply arrives. So Send writes
// the whole body first, then calls the caller's mark, and writes the dot only if mark returned nil. The caller commits
// in mark that the mail is being transmitted. Before the mark nothing can have been sent; after it nothing may be sent
// again without evidence:
//
//	mark refused          the connection is closed without the dot; nothing was sent
//	2yz after the dot     Sent
//	4yz, 5yz after it     a definite no: NotSentTemporary, NotSentPermanent
//	no reply              Unknown
//
// The dot is written only within 60 seconds of the mark by the monotonic clock. Otherwise the connection is closed and
// the outcome is Unknown, although nothing was sent: the caller cannot know for which reason the mail stays marked. One
// case remains: a process that is stopped between this check and the write of the dot, and continues when the caller
// has allowed a resend by evidence. By then the server has long closed the connection (RFC 5321 section 4.5.3.2).
//
// # Addresses
//
// The host of a mailbox is given by users. A Dialer refuses private and special addresses by the rules of
// internal/outbound, when it dials as well, and all ports but those of mail servers.
package transport
