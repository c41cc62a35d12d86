// Package refold brings stored forms of texts to the current version of package compare: folded columns, search words
// and the vocabulary of rows that an older version wrote.
//
// # How it runs
//
// Each org has a row in refolding with the place that the work has reached. A step changes a few hundred rows and the
// place in one transaction, so that a killed worker loses nothing and no writer waits for long. It changes neither
// updated_at nor the ETag of a contact and announces nothing: the contact is as it was. Old processes may go on writing
// old forms meanwhile; the next edit of such a row mends it.
//
// # Names that become one
//
// Tags that differ only in their spelling become the one that was used first. Filters find both at once, since the
// vocabulary lists the spellings; a bulk change rewrites the contacts and announces their updates.
//
// # Addresses that become one
//
// Contacts whose addresses are one now are kept as they are. The older contact holds the address: upserts and imports
// find it. The other's key gets its id as a suffix, so that it can still be edited, and the search for duplicates lists
// both.
package refold
