// Package contacts stores the contacts of an org, their indexes, and the rules for changing them.
//
// Every function runs inside the caller's transaction, which is bound to one org. The caller provides the Scorer,
// announces the events and enqueues the scoring job of a change.
//
// # Round trips
//
// Create only queues statements, so that a creation takes one round trip. Conditions that the process cannot check (is
// the stage in the org's list, does an attribute have the defined type, is a segment dynamic) are checked by statements
// of the same batch; a violation ends the transaction with a fault. A change first reads and locks the row, so it takes
// two round trips.
//
// # Columns
//
// The table in columns.go feeds the statements for one contact and for many, and the scan. The optional texts in it
// also feed patches, filters, imports, exports, bulk updates and merges.
//
// # How contacts are found
//
// Under row-level security an index serves only leakproof operators. Each text therefore has a folded column, and tags,
// segments, words and the values of custom fields have side tables (contact_tag, segment_member, contact_word,
// contact_attribute) in the order of lists. Only the functions of this package write them, except for dynamic segments.
// For conditions beyond its parameters a list takes a filter, see ParseFilter. Word search is described in search.go,
// and the index for searches of several common words in package wordindex.
// The words of a company are stored with the company: a new name finds its contacts at once, and no contact is
// rewritten.
//
// # Segments
//
// This package writes the memberships of static segments together with the contact. Package segments, which is built on
// this one, writes those of dynamic segments; they are read here (memberships.go). A writer of contacts need not notify
// it: triggers mark changed contacts if the org has a dynamic segment. Rows are locked in this order: contact, then
// contact_score, each in the order of ids.
package contacts
