package operator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// State is a job's state as operators see it.
type State string

// The states. Open is every state but Dead.
const (
	Waiting State = "waiting" // for its due time or a slot
	Retry   State = "retry"   // waiting after a failure
	Queued  State = "pushed"  // in Redis or about to be
	Running State = "running"
	Dead    State = "dead"
	Open    State = "open"
)

// States returns the states that can be searched for.
func States() []State { return []State{Waiting, Retry, Queued, Running, Dead, Open} }

// Filter selects jobs. A job must match every field that is set.
type Filter struct {
	State State      `json:"state,omitempty"` // "" means Dead
	Kind  string     `json:"kind,omitempty"`  // the kind's name or its alias
	Lane  queue.Lane `json:"lane,omitempty"`
	Org   *id.ID     `json:"org_id,omitempty"`
	// Error is a part of the last error. The match ignores ASCII case.
	Error string `json:"error,omitempty"`
	// After (inclusive) and Before (exclusive) limit when a dead job died, and when an open job was added.
	After  *time.Time `json:"after,omitempty"`
	Before *time.Time `json:"before,omitempty"`
}

// ErrFilter reports an invalid filter.
var ErrFilter = errors.New("unknown filter")

// Check validates a filter from outside.
func (f Filter) Check() error {
	if f.State != "" && !slices.Contains(States(), f.State) {
		return fmt.Errorf("%w: state is one of %v", ErrFilter, States())
	}
	if f.Lane != "" && !slices.Contains(queue.Lanes(), f.Lane) {
		return fmt.Errorf("%w: lane is one of %v", ErrFilter, queue.Lanes())
	}
	for _, text := range []string{f.Kind, f.Error} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || len(text) > 2000 {
			return fmt.Errorf("%w: text must be UTF-8 of at most 2000 bytes", ErrFilter)
		}
	}
	if f.Error != "" && len(f.Error) < shortest {
		return fmt.Errorf("%w: error text must have at least %d bytes", ErrFilter, shortest)
	}
	return nil
}

func (f Filter) hasDead() bool { return f.State == "" || f.State == Dead }

// shortest is the length in bytes of the shortest error text that can be searched for: the length of the grams in the
// text index. A shorter text would need a scan of all texts.
const shortest = 3

// Place is the cursor of a search.
type Place struct {
	At time.Time `json:"at"`
	ID id.ID     `json:"id"`
}
