// Package imapsync reads the inboxes of mailboxes by IMAP.
//
// One run reads what is new in a folder: the mails from UIDNEXT on, in the order of their UIDs. Each mail that is taken
// is committed together with its job and the next UID, so a run that dies loses none and takes none twice. A mail that
// also arrives by another way is one message, as internal/inbound describes.
//
// Only the inbox is read, so copies in the folders of sent mail and drafts are not seen. A draft in the inbox, a mail
// from the mailbox itself, and a mail with a Message-ID that the mailbox has already are passed over; of those only
// some fields of the header are fetched.
//
// # UIDVALIDITY
//
// When the server has numbered the mails anew, or the folder was never read, it is read from the first mail on that
// arrived within 30 days, but not before the mailbox was created. Message-IDs tell what was taken before.
//
// # Mails that cannot be read
//
// A mail that cannot be fetched ends the run, since the connection may be of no use any more. At the third time it is
// skipped. While a mail fails, summaries are fetched one by one, so that the one at fault is known. Of a mail
// above 25 MiB the files are left out as it arrives (parse.Reduce); one above 150 MiB is skipped at once. The mailbox
// shows how many were skipped.
package imapsync
