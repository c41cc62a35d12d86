package stripe

import "context"

// Store keeps the objects of the sandbox. Postgres implements it, so that the state survives a restart and several
// processes share it. Package stripememory implements it for tests with many sandboxes.
type Store interface {
	// Update runs fn exclusively: no other Update or View of the same state, in any process, runs at the same time. If
	// fn fails, nothing changes.
	Update(ctx context.Context, fn func(Tx) error) error
	// View runs fn for reading.
	View(ctx context.Context, fn func(Tx) error) error
}

// Tx reads and writes rows within Update or View.
type Tx interface {
	// Get returns nil if there is no such row.
	Get(ctx context.Context, account, kind, id string) (*Row, error)
	// Put writes a row; a new row, with Seq 0, gets the next Seq.
	Put(ctx context.Context, r *Row) error
	Delete(ctx context.Context, account, kind, id string) error
	// Find returns rows, newest first.
	Find(ctx context.Context, q Query) ([]*Row, error)
	// Due returns the rows of a timer that are due at the given time, the earliest first.
	Due(ctx context.Context, timer string, by int64, limit int) ([]*Row, error)
}

// Row is a stored object.
type Row struct {
	Account string // "" is the platform
	Kind    string
	ID      string
	Seq     int64    // order of creation
	Created int64    // Unix seconds by the sandbox's clock
	Marks   []string // index keys, such as customer=cus_1
	Timer   string   // the clock of Due; "" for none
	Due     int64    // Unix seconds
	Body    []byte   // JSON
}

// Query selects rows of one kind in one account, or, with Anywhere, in all.
type Query struct {
	Account       string
	Anywhere      bool
	Kind          string
	All           []string // marks that the row has, all of them
	Any           []string // marks of which the row has at least one, unless empty
	Before, After int64    // exclusive bounds of Seq, 0 for none; with After, oldest first
	Since, Until  int64    // inclusive bounds of Created, 0 for none
	Limit         int      // 0 means all
}
