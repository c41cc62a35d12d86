// Package contacts keeps the people that an org knows: their rows, what they are found by, and the rules of a change.
//
// Every function works inside the caller's transaction, which is under one org. The caller composes the rest: it
// brings the scorer as a Rate, announces the event and asks for the scoring job.
//
// # Round trips
//
// Create only queues statements, so that a creation is one round trip. What it cannot know in the process (is the
// stage on the org's list, is an attribute's type the defined one, is a segment dynamic) is asked by statements of
// the same batch, whose answer ends the transaction with a fault. A change first reads and locks the row: two.
//
// # What a contact is found by
//
// Under a row policy an index serves only leakproof operators. So each text has a folded column, and tags, segments,
// words and the values of custom fields have rows of their own (contact_tag, segment_member, contact_word,
// contact_attribute) in the order of lists. The functions of this package are their only writers, dynamic segments apart. What a list may ask
// beside its parameters is a filter, see ParseFilter; how words are looked for is in search.go. A company's words are
// its own: a new name finds its contacts at once, and no contact is written for it.
//
// # Segments
//
// This package writes the memberships of static segments, with the contact; those of dynamic ones are written by package
// segments below it, and read here (memberships.go). Who changes a contact tells nobody of it: triggers mark it where
// the org has a dynamic segment, and rows are locked a contact first, then its score, in the order of ids.
package contacts
