package contacts

import (
	"fmt"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// Contact is a person, as the API and the webhooks show them.
type Contact = events.Contact

// DefaultStage is the stage of a contact that is created without one.
const DefaultStage = "lead"

// Row is a contact with the two counters of its ETag.
type Row struct {
	Contact
	Edit     int // incremented by every edit
	Computed int // incremented by background work only
	// Dynamic holds the keys of the dynamic segments at the end of Segment; it is nil if the org has never had a
	// dynamic segment. Shelved holds the keys of archived static segments that still contain the contact; Segment omits
	// them.
	Dynamic, Shelved []string
}

// Scorer scores a contact with the org's model: lead is 100 x the probability, rounded to two decimals. A Scorer is
// pure and fast.
type Scorer func(c *Contact) (lead float64, from events.ContactScore)

// Match is the precondition of a change. It returns an error for an edit that the caller does not accept. A nil Match
// accepts every edit.
type Match func(edit int64) error

func (m Match) checkEdit(edit int) error {
	if m == nil {
		return nil
	}
	return m(int64(edit))
}

// TakenError is a unique violation: a live contact of the org already has the address. Resolve converts it to a fault.
type TakenError struct {
	Email string // folded
	cause error
}

func (t *TakenError) Error() string { return fmt.Sprintf("address is taken: %v", t.cause) }

func (t *TakenError) Unwrap() error { return t.cause }

// Exists returns the 409 fault for an address that the live contact holder has. holder is the zero id if that contact
// no longer exists.
func Exists(holder id.ID) *fault.Fault {
	f := fault.New(fault.ContactExists, "A contact with this email exists.")
	if !holder.IsZero() {
		f.ExistingID = holder.String()
	}
	return f
}

func notFound() *fault.Fault { return fault.New(fault.NotFound, "There is no such contact.") }
