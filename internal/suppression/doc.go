// Package suppression keeps the addresses and domains that an org does not write to.
//
// # Purposes
//
// A suppression for marketing refuses sequences, broadcasts and one-to-one mail with that purpose; one for all refuses
// every mail of the org but system mail. A person who unsubscribes is suppressed for marketing; a complaint, a hard
// bounce and a person of the org suppress for all.
//
// # What outlives the contact
//
// A suppression is found by HMAC(org key, folded address or domain). When a contact is purged, the address goes and the
// hash stays, so no import brings the person back. The rows of the zero org are the platform's: they are hashed with
// the platform's key, every org obeys them, and no org can change them. Operators write them with `funnelwork
// suppressions`; the rows keep who did it and why.
//
// # Merged contacts
//
// A merge says that two contacts are one person, so what the person asked for at one address counts for the survivor's
// address too. Undoing the merge lifts it again.
//
// # Changed addresses
//
// When a contact gets another address, what the person asked for at the one before counts for it, too (Follow). The
// address before stays suppressed for whoever takes it.
//
// # The order of a suppression and of a mail
//
// A mail must not go out if its suppression was committed before the mail was marked as transmitting. A statement does
// not see what is committed while it runs, so Guard makes the transaction of the mark wait for every suppression of the
// address that is under way, and every suppression wait for such marks. The locks are advisory and belong to one of 64
// parts of the org's hashes, in ascending order, so that they cannot deadlock. Guard must come before the check and
// before the transaction locks rows.
package suppression
