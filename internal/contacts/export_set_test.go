package contacts

import "github.com/funnelwork/funnelwork/internal/postgres"

// The two ways to write contacts, for comparison.

// InsertEach queues the rows of new contacts one by one; InsertAll queues them all at once.
func InsertEach(tx *postgres.Tx, all []*Contact) error {
	for _, c := range all {
		if err := queueInsert(tx, c); err != nil {
			return err
		}
	}
	return nil
}

// InsertAll queues the rows of new contacts all at once.
func InsertAll(tx *postgres.Tx, all []*Contact) error { return insertAll(tx, all) }

// MakeSegments queues the creation of segments for the keys.
func MakeSegments(tx *postgres.Tx, keys []string) { makeSegments(tx, keys) }
