// Package segments stores the segments of an org and their members. A segment is a set of contacts that is filled by
// hand (static) or by a filter (dynamic).
//
// # Where a membership is written
//
// segment_member has one row per segment and contact, for both kinds; lists and counts read it. It has two writers:
// package contacts writes static memberships together with the contact, and Sync writes dynamic ones. A dynamic
// membership changes nothing in the contact itself except the second part of its ETag: package contacts reads the keys
// to show from segment_member.
//
// # How a dynamic segment is kept current
//
// If an org has a dynamic segment, database triggers insert a mark for every changed contact, in the transaction of the
// change. Marks are only inserted, so no writer waits because of them. A worker polls several times a second for orgs
// with marks (Waiting) and enqueues a job, at most one open job per org. The job (Sync) reads marks and their contacts,
// evaluates all filters in memory, and writes the differences with their events in one transaction. Its cost is
// proportional to the number of changes, not to the size of the segments.
//
// No change is missed. A mark is committed with its change, so a transaction that sees the mark sees the change. A mark
// that is inserted while the job runs remains, and the next poll finds it. No difference is announced twice:
// differences are computed from rows that the same transaction changes, and the lock on the org's job row allows one
// job at a time.
//
// # A new filter
//
// A build scans all contacts in the order of creation, several thousand at a time, with the filter as SQL. Marks are
// processed first, also between the pieces, and apply to segments that are being built as to any other. Pieces and
// marks cannot conflict, because one job processes both. The build first waits for transactions that wrote contacts
// before they could see that the org is watched, and therefore left no mark (segment_watch.waits_for).
//
// # What is announced
//
// segment.entered and segment.left follow the live members: an archived contact leaves, a restored one enters again.
// The initial members of a new segment are not announced one by one; a list with segment=KEY shows them when status is
// ready. After that every difference is announced, including those of a changed filter and of a restored segment.
// Purging a contact announces only contact.purged. An archived segment is not updated and announces nothing.
//
// With each segment.entered, the transaction inserts a row of segment_entry for every active or paused sequence that
// enrols from the segment. Package enrolments enrols the contact and deletes the row.
//
// # Order of locks
//
// Locks are taken in this order: contact, then its contact_score, in the order of ids; then segment_member; then
// segment; then segment_watch. Sync never locks a contact. Its pieces follow the order of creation and come after the
// marks. Therefore, after its first statement, Sync locks contact_score rows only if no other transaction holds them,
// and otherwise leaves the piece to the next run.
package segments
