// Package segments keeps the segments of an org: sets of contacts that are filled by hand (static) or by a filter
// (dynamic), and who is in them.
//
// # Where a membership is written
//
// segment_member has one row per segment and contact, for both kinds; lists and counts go by it. Its writers are two:
// contacts writes the static ones with the contact, and Sync writes the dynamic ones. Nothing of a dynamic membership is written
// to the contact itself but the second part of its ETag: package contacts reads the keys to show from segment_member.
//
// # How a dynamic segment is kept current
//
// Whoever changes a contact of an org that has a dynamic segment leaves a mark, by triggers of the database, in the
// transaction of the change. Marks are only added: nobody waits because of them. A worker looks several times a second
// for orgs that have marks (Waiting) and asks for a job, one open job per org. The job (Sync) takes marks, reads the contacts
// that they name, holds them against all filters in memory and writes the differences, with their events, in one
// transaction; the cost goes with the changes, not with the sizes of segments.
//
// No change is missed: a mark is committed with its change, so whoever sees the mark sees the change; a mark that comes while
// the job runs is still there afterwards, and the next look finds it. No difference is told twice: differences are taken
// from the rows that the same transaction changes, and one job of an org runs at a time, by its row's lock.
//
// # A new filter
//
// The contacts are gone through in the order of their creation, some thousands at a time, by the filter as SQL; marks go first,
// between the pieces too, and hold for a segment that is being built as for any other. Since pieces and marks are
// the work of the same job they never meet. One thing has to be waited for: transactions that wrote contacts before they could see that the org is
// watched now, and so left no mark (segment_watch.waits_for).
//
// # What is told
//
// segment.entered and segment.left follow the live members: an archived contact has left, a restored one enters again. The members that a new segment
// is born with are not told one by one, a list with segment=KEY shows them when status is ready; from then on every
// difference is told, those of a changed filter and of a segment that comes back from the archive too. Purging a
// contact tells nothing but contact.purged. An archived segment stands still, and tells nothing.
//
// # Order of locks
//
// A contact, then its contact_score, in the order of ids; then segment_member; then segment; then segment_watch. Sync
// never locks a contact. Its pieces follow the order of creation, and come after the marks: what it holds of
// contact_score beyond the first statement's it takes only where nobody else has it, and else leaves the piece to its next run.
package segments
