package companies

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Patch is a merge patch (RFC 7396) of a company. It is also the body of a create request. The zero Patch changes
// nothing.
type Patch struct {
	Name     wire.Field[string]
	Domain   wire.Field[string]
	Website  wire.Field[string]
	Industry wire.Field[string]
	Size     wire.Field[string]
	Phone    wire.Field[string]
	OwnerID  wire.Field[string]

	ExternalIDs externalid.Patch

	// CreatedAt is accepted only where history is imported: in a batch row that creates a company. Elsewhere it is
	// read-only.
	CreatedAt wire.Field[string]
	form.Refused
}

const maxURL = 2000

// apply applies p to now. was is the stored company, and path is the JSON pointer to p's object.
func (p *Patch) apply(was, now *Company, path string) error {
	f := form.At(path)
	f.ReadOnly(p.Sent, was)
	p.applyMembers(f, now)
	return f.Fault()
}

func (p *Patch) applyMembers(f *form.Form, c *Company) {
	f.Required("name", p.Name, &c.Name, form.Name)
	if p.Domain.Set {
		c.Domain = nil
		if !p.Domain.Null && strings.TrimSpace(p.Domain.Value) != "" {
			domain, ok := Domain(p.Domain.Value)
			if c.Domain = &domain; !ok {
				f.Wrong("domain", "invalid_domain", "This is not the name of a domain, such as example.com.")
			}
		}
	}
	f.Optional("website", p.Website, &c.Website, maxURL)
	f.Optional("industry", p.Industry, &c.Industry, form.Name)
	f.Optional("size", p.Size, &c.Size, form.Phone)
	f.Optional("phone", p.Phone, &c.Phone, form.Phone)
	f.ID("owner_id", p.OwnerID, &c.OwnerID)
	c.ExternalIDs = externalid.Apply(p.ExternalIDs, c.ExternalIDs, f.Wrong)
}

// newCompany returns the new company that p describes.
func (p *Patch) newCompany(path string, now wire.Time) (Company, error) {
	f := form.At(path)
	c := Company{CreatedAt: now, UpdatedAt: now}
	f.ReadOnly(p.Sent, &c)
	p.applyMembers(f, &c)
	form.Missing(f, "name", p.Name)
	if p.CreatedAt.Set && !p.CreatedAt.Null {
		f.Past("created_at", p.CreatedAt, now, &c.CreatedAt)
	}
	c.ID = id.New()
	return c, f.Fault()
}

// namelessFault is the fault for a row that identifies no company; ambiguousFault is the fault for a row that matches
// several.
func namelessFault(path string) *fault.Fault {
	return fault.Invalid(path+"name", "required", "A row needs an id, a known external id, a domain or a name.")
}

func ambiguousFault() *fault.Fault {
	return fault.New(fault.Conflict, "Several companies have this name. Give the row an id or a domain.")
}
