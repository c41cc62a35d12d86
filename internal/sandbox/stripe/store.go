package stripe

import "context"

// Store keeps the objects of the sandbox. There are two: Memory, for tests that make many worlds, and Postgres,
// so that a restart finds its customers again and several processes see one Stripe.
type Store interface {
	// Update runs fn alone: no other Update or View of the same state, in whichever process, runs meanwhile. If fn
	// fails nothing has changed.
	Update(ctx context.Context, fn func(Tx) error) error
	// View runs fn for reading.
	View(ctx context.Context, fn func(Tx) error) error
}

// Tx reads and writes rows within Update or View.
type Tx interface {
	// Get answers nil where there is no such row.
	Get(ctx context.Context, account, kind, id string) (*Row, error)
	// Put writes a row; a new one, whose Seq is 0, gets the next.
	Put(ctx context.Context, r *Row) error
	Delete(ctx context.Context, account, kind, id string) error
	// Find answers rows, newest first.
	Find(ctx context.Context, q Query) ([]*Row, error)
	// Due answers the rows of a timer that are due by a moment, the earliest first.
	Due(ctx context.Context, timer string, by int64, limit int) ([]*Row, error)
}

// Row is one object as it is kept.
type Row struct {
	Account string // "" is the platform's own
	Kind    string
	ID      string
	Seq     int64    // the order of making
	Created int64    // Unix seconds by the sandbox's clock
	Marks   []string // what it can be found by, such as customer=cus_1
	Timer   string   // which clock Due is read on; "" for none
	Due     int64    // Unix seconds
	Body    []byte   // JSON
}

// Query selects rows of one kind in one account, or, with Anywhere, in all.
type Query struct {
	Account       string
	Anywhere      bool
	Kind          string
	All           []string // marks that it has, each of them
	Any           []string // marks of which it has one, where there are any
	Before, After int64    // exclusive bounds of Seq, 0 for none; with After the oldest come first
	Since, Until  int64    // inclusive bounds of Created, 0 for none
	Limit         int      // 0 is all
}
