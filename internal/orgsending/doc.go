// Package orgsending keeps what an org has decided about all mail that it sends.
//
// # Settings
//
// An org without a row has the settings of Defaults. Mailboxes, sequences and broadcasts have settings of their own
// beside these: a cap binds in addition to the mailbox's, and tracking, the purpose and the stop rules are what a new
// mailbox, email or sequence has unless it says otherwise.
//
// # Caps
//
// daily_cap bounds the mails of all mailboxes together in any 24 hours, exactly, and domain_daily_cap the automated
// ones to one domain, unless it belongs to a free mail service. Caps.Take decides within the transaction of a mark, as
// mailboxes.TakeSlot does for the cap of the mailbox: it serialises the marks that a cap counts, and refuses one if the
// cap-th newest is younger than mailboxes.Window. Since the cap of an org may be large, the marks are counted only when
// the room that the last count has found is used up.
//
// # Sending domains
//
// A sending domain has a key that we make and seal. Its record in DNS proves that the domain's owner wants us to sign:
// the selector is random, so several orgs may send from one domain, each with its own key. The newest key whose record
// was found signs. A rotation adds a key, and the old one signs until the record of the new one is found. A look-up
// that fails never counts against a domain; three that find no key, each five minutes or more after the one before, do.
//
// Only mail through servers of the org's own (mailboxes of kind smtp) is signed. The signature of an email depends on
// its bytes and the key alone (internal/outreach/dkim), so a second attempt sends the same bytes, unless the key was
// rotated in between.
package orgsending
