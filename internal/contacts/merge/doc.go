// Package merge merges contacts into one, and can undo a merge.
//
// # What a merge does
//
// The survivor keeps its values. Missing values are filled from the losers in the given order: fields and custom
// fields. The losers' tags and static segments are added to the survivor's. Records that belong to the losers (deals,
// notes, tasks) are reassigned by the nouns that the caller passes in. The losers are archived. Their timelines are not
// changed; they are read together with the survivor's.
//
// # Undoing
//
// A merge can be undone for 30 days. An undo removes the merged values that the survivor still has: a field is reset if
// its value is still the merged one, a tag is removed if it is still present, and every later edit is kept. The losers
// are restored, and the reassigned records return. If nothing was edited in between, every row is again as before,
// including updated_at; only the ETag keeps increasing.
//
// # Locks
//
// Contacts are locked in the order of their ids, before the row of the merge. Of concurrent merges that share a contact
// one succeeds; the others find the contact archived.
package merge
