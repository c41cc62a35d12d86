// Package orgsending keeps what an org has decided about all mail that it sends.
//
// # Settings
//
// An org without a row has the settings of Defaults. Mailboxes, sequences and broadcasts have settings of their own
// beside these: a cap binds in addition to the mailbox's, and tracking, the purpose and the stop rules are what a new
// mailbox, email or sequence has unless it says otherwise.
package orgsending
