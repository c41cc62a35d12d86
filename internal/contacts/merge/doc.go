// Package merge folds contacts into one, and takes them apart again.
//
// # What a merge does
//
// The survivor keeps what it has. What it has not is filled from the losers in the order given: fields, custom fields, and
// their tags and static segments on top of its own. What hangs on the losers (deals, notes, tasks) is handed over by its
// nouns, which the caller brings. The losers are archived; their timeline is not touched but read with the survivor's.
//
// # Undoing
//
// For 30 days a merge can be undone. The survivor then loses what the merge gave it, as far as it still has it: a field goes
// back where its value is still the merged one, a tag is taken out where it is still there, and every later edit stays. The
// losers come back, and what was handed over returns. Where nobody has touched anything in between, every row is again as it
// was, updated_at included, apart from the ETag, which only moves on.
//
// # Locks
//
// Contacts are locked in the order of their ids, before a merge's own row. So of merges that share a contact one wins, and
// the others find it archived.
package merge
