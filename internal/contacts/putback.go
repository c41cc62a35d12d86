package contacts

import "github.com/funnelwork/funnelwork/internal/postgres"

// ArchiveLocked is ArchiveAll of rows that the caller has locked; it queues what it writes.
func ArchiveLocked(tx *postgres.Tx, rows []Row) []Change {
	return shelved(tx, rows, true, nows(len(rows)))
}

// PutBack makes rows that the caller has locked into what they were once, score and updated_at included; the edit goes on.
// was[i] becomes to[i]. Dynamic segments stay as they are. It queues what it writes, and answers what has changed.
func PutBack(tx *postgres.Tx, was []Row, to []Contact) ([]Change, error) {
	all, same := make([]Change, 0, len(was)), make([]Change, 0, len(was))
	for i := range was {
		to[i].Segment = was[i].settle(to[i].Segment)
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
	return all, rewrite(tx, same)
}
