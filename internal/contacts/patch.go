package contacts

import (
	"encoding/json"

	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Patch is a merge patch (RFC 7396) of a contact. It is also the body of a create request. The zero Patch changes
// nothing.
type Patch struct {
	Email       wire.Field[string]
	FirstName   wire.Field[string]
	LastName    wire.Field[string]
	Phone       wire.Field[string]
	JobTitle    wire.Field[string]
	Source      wire.Field[string]
	TimeZone    wire.Field[string]
	Country     wire.Field[string]
	Consent     wire.Field[ConsentPatch]
	CompanyID   wire.Field[string]
	OwnerID     wire.Field[string]
	Stage       wire.Field[string]
	Tag         wire.Field[[]string]
	Segment     wire.Field[[]string]
	Attributes  wire.Field[map[string]any]
	ExternalIDs externalid.Patch

	// CreatedAt is accepted only where history is imported: in a batch row that creates a contact. Elsewhere it is
	// read-only.
	CreatedAt wire.Field[string]
	// ReadOnly holds the read-only members that were sent, by JSON name: id, lead_score, score, updated_at,
	// archived_at. A member with the current value is ignored; any other value is refused.
	ReadOnly map[string]json.RawMessage
}

// Refuse adds a read-only member if it was sent.
func (p *Patch) Refuse(name string, sent json.RawMessage) {
	if sent == nil {
		return
	}
	if p.ReadOnly == nil {
		p.ReadOnly = map[string]json.RawMessage{}
	}
	p.ReadOnly[name] = sent
}
