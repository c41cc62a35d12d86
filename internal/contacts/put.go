package contacts

import (
	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Put stores contacts that the caller has derived from locked rows, and re-scores them. now[i] replaces was[i]; they
// may differ only in the fields of a patch. Put returns the contacts that changed.
func Put(tx *postgres.Tx, was []Row, now []Contact, rate Scorer) ([]Change, error) {
	return PutAt(tx, was, now, rate, wire.Now())
}

// PutAt is Put with an explicit updated_at.
func PutAt(tx *postgres.Tx, was []Row, now []Contact, rate Scorer, at wire.Time) ([]Change, error) {
	all := make([]Change, 0, len(was))
	for i := range was {
		c := now[i]
		if len(previousValues(&was[i].Contact, &c)) == 0 {
			continue
		}
		c.LeadScore, c.Score = rate(&c)
		c.UpdatedAt = at
		ch := Change{Row: was[i], before: was[i].Contact, Previous: previousValues(&was[i].Contact, &c)}
		ch.Contact = c
		ch.Edit = was[i].Edit + 1
		all = append(all, ch)
	}
	return all, updateAll(tx, all)
}

// PutBack resets rows that the caller has locked to earlier states, including score and updated_at; the edit is
// incremented. was[i] becomes to[i]. Dynamic segments are not changed. It queues its writes and returns the changes.
func PutBack(tx *postgres.Tx, was []Row, to []Contact) ([]Change, error) {
	all := make([]Change, 0, len(was))
	same := make([]Change, 0, len(was))
	for i := range was {
		to[i].Segment = was[i].mergeSegments(to[i].Segment)
		ch := Change{Row: was[i], before: was[i].Contact, Previous: previousValues(&was[i].Contact, &to[i])}
		if !ch.Changed() && was[i].UpdatedAt == to[i].UpdatedAt {
			continue
		}
		ch.Contact = to[i]
		ch.Edit = was[i].Edit + 1
		if all = append(all, ch); compare.Address(was[i].Email) == compare.Address(to[i].Email) {
			same = append(same, ch)
		} else if err := queueUpdate(tx, &was[i], &to[i]); err != nil {
			return nil, err
		}
	}

	return all, updateAll(tx, same)
}
