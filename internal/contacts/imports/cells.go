package imports

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// reader converts the cells of a record to a row of a batch.
type reader struct {
	columns []Column
	types   map[string]contacts.Type // of custom fields, by key
}

// upsert returns the row for the cells. A blank cell leaves its field unchanged.
func (r *reader) upsert(cells []string) contacts.Upsert {
	var u contacts.Upsert
	for i := range r.columns {
		f := r.columns[i].Field
		if f == nil || strings.TrimSpace(cells[i]) == "" {
			continue
		}
		r.set(&u, *f, sheet.Text(cells[i]))
	}
	return u
}

func (r *reader) set(u *contacts.Upsert, field, cell string) {
	trimmed := func() wire.Field[string] { return wire.Some(strings.TrimSpace(cell)) }
	switch field {
	case "id":
		u.ID = trimmed()
	case "email":
		u.Email = trimmed()
	case "first_name":
		u.FirstName = wire.Some(cell)
	case "last_name":
		u.LastName = wire.Some(cell)
	case "time_zone":
		u.TimeZone = trimmed()
	case "company_id":
		u.CompanyID = trimmed()
	case "owner_id":
		u.OwnerID = trimmed()
	case "stage":
		u.Stage = wire.Some(cell)
	case "tag":
		u.Tag = wire.Some(exports.SplitKeys(cell))
	case "segment":
		u.Segment = wire.Some(exports.SplitKeys(cell))
	case "created_at":
		u.CreatedAt = trimmed()
	default:
		if t := contacts.TextNamed(field); t != nil {
			*t.In(&u.Patch) = wire.Some(cell)
			return
		}
		if part := contacts.ConsentNamed(field); part != nil {
			u.Consent.Set = true
			*part.In(&u.Consent.Value) = wire.Some(cell)
			return
		}
		key := strings.TrimPrefix(field, attribute)
		if !u.Attributes.Set {
			u.Attributes = wire.Some(map[string]any{})
		}
		u.Attributes.Value[key] = value(r.types[key], cell)
	}
}

// value converts a cell for a field of type t. A cell that does not parse stays a string, so that the batch refuses it.
func value(t contacts.Type, cell string) any {
	word := strings.TrimSpace(cell)
	switch t {
	case contacts.Number:
		if n, ok := number(word); ok {
			return n
		}
	case contacts.Boolean:
		switch strings.ToLower(word) {
		case "true", "yes":
			return true
		case "false", "no":
			return false
		}
	case contacts.Date:
		return word
	case contacts.String:
	}
	return cell
}

// number parses a JSON number: no leading zeros and no sign but minus, so that a postal code does not become a number.
func number(s string) (float64, bool) {
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') || !json.Valid([]byte(s)) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && math.Abs(n) <= 1<<53
}

// guessed tracks which types fit all values of a column so far.
type guessed struct{ some, notNumber, notBoolean, notDate bool }

func (g *guessed) see(cell string) {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		return
	}
	g.some = true
	if !g.notNumber {
		_, is := number(cell)
		g.notNumber = !is
	}
	if !g.notBoolean {
		g.notBoolean = cell != "true" && cell != "false"
	}
	if !g.notDate {
		g.notDate = contacts.TypeOf(cell) != contacts.Date
	}
}

func (g *guessed) fits() contacts.Type {
	switch {
	case !g.some:
	case !g.notNumber:
		return contacts.Number
	case !g.notBoolean:
		return contacts.Boolean
	case !g.notDate:
		return contacts.Date
	}
	return contacts.String
}
