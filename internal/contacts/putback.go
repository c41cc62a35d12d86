package contacts

import "github.com/funnelwork/funnelwork/internal/postgres"

// ArchiveLocked is ArchiveAll for rows that the caller has locked. It queues its writes.
func ArchiveLocked(tx *postgres.Tx, rows []Row) []Change {
	return archivedChanges(tx, rows, true, nows(len(rows)))
}

// PutBack resets rows that the caller has locked to earlier states, including score and updated_at; the edit is
// incremented. was[i] becomes to[i]. Dynamic segments are not changed. It queues its writes and returns the changes.
func PutBack(tx *postgres.Tx, was []Row, to []Contact) ([]Change, error) {
	all, same := make([]Change, 0, len(was)), make([]Change, 0, len(was))
	for i := range was {
		to[i].Segment = was[i].mergeSegments(to[i].Segment)
		ch := Change{Row: was[i], before: was[i].Contact, Previous: changes(&was[i].Contact, &to[i])}
		if !ch.Changed() && was[i].UpdatedAt == to[i].UpdatedAt {
			continue
		}
		ch.Contact, ch.Edit = to[i], was[i].Edit+1
		if all = append(all, ch); Fold(was[i].Email) == Fold(to[i].Email) {
			same = append(same, ch)
		} else if err := update(tx, &was[i], &to[i]); err != nil {
			return nil, err
		}
	}
	return all, updateAll(tx, same)
}
