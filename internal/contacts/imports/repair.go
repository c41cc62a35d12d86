package imports

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/uploads"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// repairer removes the cells of rows that are not understood, and notes them as warnings. A row keeps its key: if the
// address or the id is invalid, it fails.
type repairer struct {
	columns  []Column
	rows     []int               // of the file, for the rows of the batch
	warnings [][]uploads.Warning // for each row of the batch
}

func newRepairer(columns []Column, rows []int) *repairer {
	return &repairer{columns: columns, rows: rows, warnings: make([][]uploads.Warning, len(rows))}
}

// repair removes the invalid fields of f from u. It returns false if one of them cannot be removed.
func (r *repairer) repair(i int, u *contacts.Upsert, f *fault.Fault) bool {
	row := []uploads.Warning{}
	drop := map[string][]int{} // fields, and the indexes of their entries
	for _, w := range f.Fields {
		path := strings.TrimPrefix(w.Pointer, "#/")
		field, entry := r.fieldOf(path)
		column := r.columnOf(field)
		if column == "" {
			return false
		}
		if _, is := drop[field]; !is || entry >= 0 {
			drop[field] = append(drop[field], entry)
		}
		if field == consent || field == consentBasis && !u.Consent.Value.Basis.Set {
			continue // see dropConsent
		}
		w = explainCompany(r.columns, w)
		row = append(row, uploads.Warning{Row: r.rows[i], Column: column, Code: w.Code, Detail: w.Detail})
	}

	if u.Attributes.Set {
		u.Attributes = wire.Some(cloneValues(u.Attributes.Value))
	}
	if u.ExternalIDs.Set {
		u.ExternalIDs = wire.Some(cloneValues(u.ExternalIDs.Value))
	}
	for field, entries := range drop {
		if field == consent || field == consentBasis && !u.Consent.Value.Basis.Set {
			row = append(row, r.dropConsent(i, u)...)
			continue
		}
		if !remove(u, field, entries) {
			return false
		}
	}
	for _, w := range row {
		if !slices.Contains(r.warnings[i], w) { // the batch may repair a row again
			r.warnings[i] = append(r.warnings[i], w)
		}
	}

	return true
}

// The field of a whole consent, and that of the part without which a contact has none.
const (
	consent      = "consent"
	consentBasis = "consent_basis"
)

// dropConsent removes the consent of a row, whose basis is missing, and returns a warning about each part that it has.
func (r *repairer) dropConsent(i int, u *contacts.Upsert) (all []uploads.Warning) {
	for _, name := range contacts.ConsentNames() {
		part := contacts.ConsentNamed(name).In(&u.Consent.Value)
		column := r.columnOf(name)
		if part.Set && column != "" {
			all = append(all, uploads.Warning{
				Row: r.rows[i], Column: column, Code: "required",
				Detail: "The consent is left out, because it lacks a basis.",
			})
		}
	}
	u.Consent = wire.Field[contacts.ConsentPatch]{}
	return all
}

func cloneValues(in map[string]any) map[string]any {
	out := make(map[string]any, len(in))
	maps.Copy(out, in)
	return out
}

// fieldOf returns the field of a pointer, and the index of its entry or -1.
func (r *repairer) fieldOf(path string) (field string, entry int) {
	head, rest, has := strings.Cut(path, "/")
	if !has {
		return head, -1
	}
	rest = strings.NewReplacer("~1", "/", "~0", "~").Replace(rest)
	switch head {
	case "attributes":
		return attribute + rest, -1
	case externalid.Member:
		return external + rest, -1
	case consent:
		if name := "consent_" + rest; r.columnOf(name) != "" {
			return name, -1
		}
		return consent, -1
	}
	if n, err := strconv.Atoi(rest); err == nil {
		return head, n
	}
	return head, -1
}

// columnOf returns the name of the column that is mapped to a field and can be left out, or "".
func (r *repairer) columnOf(field string) string {
	switch field {
	case "id", "email":
		return ""
	}
	name := ""
	for _, c := range r.columns {
		switch {
		case c.Field == nil:
		case *c.Field == field:
			return c.Name
		case *c.Field == company && field == "company_id":
			name = c.Name
		case *c.Field == fullName && (field == "first_name" || field == "last_name"),
			field == consent && strings.HasPrefix(*c.Field, "consent_"):
			name = c.Name
		}
	}
	return name
}

// remove removes a field from u, or entries of it. It returns false if u does not have it.
func remove(u *contacts.Upsert, field string, entries []int) bool {
	text := func(at *wire.Field[string]) bool {
		had := at.Set
		*at = wire.Field[string]{}
		return had
	}
	switch field {
	case "first_name":
		return text(&u.FirstName)
	case "last_name":
		return text(&u.LastName)
	case "company_id":
		return text(&u.CompanyID)
	case "owner_id":
		return text(&u.OwnerID)
	case "stage":
		return text(&u.Stage)
	case "created_at":
		had := text(&u.CreatedAt)
		delete(u.ReadOnly, field)
		return had
	case "tag":
		return removeEntries(&u.Tag, entries)
	case "segment":
		return removeEntries(&u.Segment, entries)
	case consent:
		had := u.Consent.Set
		u.Consent = wire.Field[contacts.ConsentPatch]{}
		return had
	}
	if t := contacts.TextNamed(field); t != nil {
		return text(t.In(&u.Patch))
	}
	if part := contacts.ConsentNamed(field); part != nil {
		return text(part.In(&u.Consent.Value))
	}

	if isExternal(field) {
		system := strings.TrimPrefix(field, external)
		_, had := u.ExternalIDs.Value[system]
		delete(u.ExternalIDs.Value, system)
		return had
	}

	key := strings.TrimPrefix(field, attribute)
	_, had := u.Attributes.Value[key]
	delete(u.Attributes.Value, key)

	return had
}

// removeEntries removes the entries at the indexes, or all if an index is -1.
func removeEntries(list *wire.Field[[]string], indexes []int) bool {
	if !list.Set {
		return false
	}
	if slices.Contains(indexes, -1) {
		*list = wire.Field[[]string]{}
		return true
	}
	kept := []string{}
	for i, s := range list.Value {
		if !slices.Contains(indexes, i) {
			kept = append(kept, s)
		}
	}
	*list = wire.Some(kept)
	return true
}
