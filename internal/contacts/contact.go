package contacts

import (
	"fmt"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// Contact is a person, as the API and the webhooks show them.
type Contact = events.Contact

// DefaultStage is the stage of a contact that was made without one.
const DefaultStage = "lead"

// Row is a contact with the two counters of its ETag.
type Row struct {
	Contact
	Edit     int // moved by every edit
	Computed int // moved by background work alone
	// Dynamic are the keys of dynamic segments among Segment, where they stand last; nil where the org has never had
	// one. Shelved are those of archived static segments that the contact is still in, which Segment does not show.
	Dynamic, Shelved []string
}

// Rate scores a contact by the org's model: lead is 100 x the probability, two decimals. It is pure and quick.
type Rate func(c *Contact) (lead float64, from events.ContactScore)

// TakenError is a unique violation: a live contact of the org has the address already. Resolve makes a fault of it.
type TakenError struct {
	Email string // folded
	cause error
}

func (t *TakenError) Error() string { return fmt.Sprintf("address is taken: %v", t.cause) }

func (t *TakenError) Unwrap() error { return t.cause }

// Exists is the 409 for an address that the live contact holder has; the zero id where it has gone meanwhile.
func Exists(holder id.ID) *fault.Fault {
	f := fault.New(fault.ContactExists, "A contact with this email exists.")
	if !holder.IsZero() {
		f.ExistingID = holder.String()
	}
	return f
}

func missing() *fault.Fault { return fault.New(fault.NotFound, "There is no such contact.") }
