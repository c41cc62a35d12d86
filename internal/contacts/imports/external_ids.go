package imports

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// external begins the field of a column with the ids of another system: external_ids.SYSTEM.
const external = externalid.Member + "."

// idColumns are the columns of ids in the exports of usual products, as they write them, with their systems. HubSpot
// and Zoho differ in case alone.
var idColumns = map[string]string{
	"Record ID": "hubspot", "Record ID - Contact": "hubspot", "Record Id": "zoho", "Contact Id": "zoho",
	"Contact ID": "salesforce", "Lead ID": "salesforce", "Person - ID": "pipedrive", "Customer ID": "shopify",
}

// systemOf returns the system whose ids a column has by its name, such as external_id:hubspot, or "".
func systemOf(name string) string {
	if system, is := idColumns[strings.TrimSpace(name)]; is {
		return system
	}
	word := strings.ToLower(strings.TrimSpace(name))
	for _, prefix := range []string{"external_id:", "external_ids:", "external_id.", external} {
		if system, is := strings.CutPrefix(word, prefix); is && externalid.ValidSystem(strings.TrimSpace(system)) {
			return strings.TrimSpace(system)
		}
	}
	return ""
}

// isExternal reports whether a field is one of ids of another system.
func isExternal(field string) bool {
	system, is := strings.CutPrefix(field, external)
	return is && externalid.ValidSystem(system)
}

// assignExternal assigns the ids of other systems by the names of columns.
func (m *mapper) assignExternal() {
	for i := range m.columns {
		c := &m.columns[i]
		system := systemOf(c.Name)
		if field := external + system; system != "" && c.isOpen() && c.Filled && !m.taken[field] {
			c.Field = &field
			m.taken[field] = true
		}
	}
}

// hasKey reports whether a column has what contacts are matched by.
func (m *mapper) hasKey() bool {
	for field := range m.taken {
		if field == "email" || field == "id" || isExternal(field) {
			return true
		}
	}
	return false
}

// setExternal sets the id that a cell of the field has.
func setExternal(u *contacts.Upsert, field, cell string) {
	if !u.ExternalIDs.Set {
		u.ExternalIDs = wire.Some(map[string]any{})
	}
	u.ExternalIDs.Value[strings.TrimPrefix(field, external)] = cell
}
