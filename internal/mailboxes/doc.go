// Package mailboxes keeps the mailboxes that an org sends from: their servers and credentials, their states, and how
// much each may send.
//
// # States
//
//	unverified   never tested since its connection was set up or changed; sends nothing but its test mail
//	active       its last test mail was accepted; a sandbox mailbox is active from the start
//	held         sends nothing until held_until, or until a person resumes it; its mails wait
//	disabled     stopped by the platform; a person resumes it
//
// # What may be sent
//
// daily_cap bounds the mails in any 24 hours, exactly: TakeSlot locks the mailbox's row, so marks of one mailbox come
// one after the other, and refuses one if the cap-th newest mark is younger than 24 hours and a minute. The minute is
// what may lie between a mark and its final dot; with it the bound holds for the times at which the server takes the
// mails, too. A mailbox without a cap is a relay, bound by rate_per_second alone: TakeRate reserves moments that lie
// evenly apart, and TakeSlot only reads its row. gap and ramp hold automated mail back, never a one-to-one mail.
//
// The marks are the rows of the table email with a marked_at.
//
// # Health
//
// Judge counts the bounces and complaints of the last 200 mails whenever one of them is known, and the sweep repeats it
// every quarter of an hour. It halves the ramp of a mailbox that does badly and disables one that does worse. When a
// person resumes that mailbox, counting begins anew.
//
// # Reading
//
// A mailbox that is read by IMAP has a row of mailbox_folder: how far its inbox was read, when it is read next, and why
// it could not be. The sweep claims the rows that are due, one minute after the last time. The row is written with each
// mail that was taken, in the same transaction.
//
// # Silence
//
// While a server of a mailbox cannot be reached or does not respond, the mailbox has a row of mailbox_silence and shows
// the status_reason server_silent. It is called again after a minute, then after twice the time with each failure, up
// to an hour. From the second failure on the circuit of an SMTP server is open meanwhile. After a quarter of an hour
// automated mail waits, since replies to it would not be seen; one-to-one mail goes on being tried. A response of the
// server ends the silence; a test by hand, a resume and a change of the connection begin anew.
//
// # Secrets
//
// Passwords are sealed, bound to their org, mailbox and column, and no answer, event or log line holds them. Of the
// address that takes incoming mail only a hash is stored.
package mailboxes
