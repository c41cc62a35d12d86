package contacts

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// attributePrefix is the prefix of custom fields in a filter.
const attributePrefix = "attributes."

// filterField is a field that a contact filter may name.
type filterField struct {
	filter.Type
	sql   string             // the field's expression over the rows c and s; "" if side tables hold the field
	value func(*Contact) any // nil if the contact has no value
}

// filterFields holds the fields that a contact filter may name, besides attributes.KEY.
var filterFields = func() map[string]filterField {
	all := map[string]filterField{
		"email":      {filter.Address, "c.email_folded", func(c *Contact) any { return c.Email }},
		"first_name": {filter.Text, "c.first_name_folded", func(c *Contact) any { return c.FirstName }},
		"last_name":  {filter.Text, "c.last_name_folded", func(c *Contact) any { return c.LastName }},
		"company_id": {filter.ID, "c.company_id", func(c *Contact) any { return valueOrNil(c.CompanyID) }},
		"owner_id":   {filter.ID, "c.owner_id", func(c *Contact) any { return valueOrNil(c.OwnerID) }},
		"stage":      {filter.Key, "c.stage", func(c *Contact) any { return c.Stage }},
		"tag":        {filter.Keys, "", func(c *Contact) any { return c.Tag }},
		"segment":    {filter.Keys, "", func(c *Contact) any { return c.Segment }},
		"lead_score": {filter.Number, "s.score", func(c *Contact) any { return c.LeadScore }},
		"consent_basis": {filter.Key, "c.consent ->> 'basis'", func(c *Contact) any {
			if c.Consent == nil {
				return nil
			}
			return c.Consent.Basis
		}},
		"consent_confirmed_at": {filter.Time, "(c.consent ->> 'confirmed_at')::timestamptz", func(c *Contact) any {
			if c.Consent == nil || c.Consent.ConfirmedAt == nil {
				return nil
			}
			return c.Consent.ConfirmedAt.Time
		}},
		"created_at": {filter.Time, "c.created_at", func(c *Contact) any { return c.CreatedAt.Time }},
		"updated_at": {filter.Time, "c.updated_at", func(c *Contact) any { return c.UpdatedAt.Time }},
	}
	for _, t := range optionalTexts {
		value := func(c *Contact) any { return valueOrNil(*t.Of(c)) }
		all[t.Name] = filterField{filter.Text, "c." + t.Name + "_folded", value}
	}
	return all
}()

// valueOrNil returns the value at p, or nil if p is nil.
func valueOrNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

var attributeTypes = map[Type]filter.Type{
	String: filter.Text, Number: filter.Number, Boolean: filter.Boolean,
	Date: filter.Date,
}

// schema describes the fields of an org's contacts. It loads the custom fields when the first one is named.
type schema struct {
	ctx     context.Context // of the parses; the schema lives only for them
	tx      *postgres.Tx
	more    map[string]filter.Type // further fields
	defined map[string]Type
	err     error
}

// Field returns the type of a field.
func (s *schema) Field(name string) (filter.Type, bool) {
	key, custom := strings.CutPrefix(name, attributePrefix)
	if !custom {
		f, ok := filterFields[name]
		if !ok {
			f.Type, ok = s.more[name]
		}
		return f.Type, ok
	}
	if s.defined == nil && s.err == nil {
		s.defined, s.err = fieldTypes(s.ctx, s.tx)
	}
	t, ok := s.defined[key]
	return attributeTypes[t], ok
}

// Names returns the field names in alphabetical order. Custom fields are included if they have been loaded.
func (s *schema) Names() []string {
	names := slices.Sorted(maps.Keys(filterFields))
	names = append(names, slices.Sorted(maps.Keys(s.more))...)
	if s.defined == nil {
		return append(names, attributePrefix+"KEY for a custom field")
	}
	for _, key := range slices.Sorted(maps.Keys(s.defined)) {
		names = append(names, attributePrefix+key)
	}
	return names
}

func fieldTypes(ctx context.Context, tx *postgres.Tx) (map[string]Type, error) {
	fields, err := Fields(ctx, tx, "", maxFields)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Type, len(fields))
	for _, f := range fields {
		out[f.Key] = f.Type
	}
	return out, nil
}

// ParseFilter parses a filter over the org's contacts, including custom fields. An invalid filter is a *filter.Error,
// which converts to faults for a query or a body. It queries the database only if the filter names a custom field.
func ParseFilter(ctx context.Context, tx *postgres.Tx, raw []byte) (*filter.Filter, error) {
	return Parser(ctx, tx)(raw)
}

// Parser is ParseFilter for many filters: it queries the database once.
func Parser(ctx context.Context, tx *postgres.Tx) func(raw []byte) (*filter.Filter, error) {
	return ParserWith(ctx, tx, nil)
}

// ParserWith is Parser for filters that may also name the fields in more. Such a filter can only be matched in memory.
func ParserWith(ctx context.Context, tx *postgres.Tx, more map[string]filter.Type,
) func(raw []byte) (*filter.Filter, error) {
	s := schema{ctx: ctx, tx: tx, more: more}
	return func(raw []byte) (*filter.Filter, error) {
		f, err := filter.Parse(raw, &s)
		if s.err != nil {
			return nil, s.err
		}
		if err != nil {
			return nil, err
		}
		return f, resolve(ctx, tx, f)
	}
}

// record adapts a contact to filter.Record.
type record struct{ c *Contact }

// RecordOf returns c as a filter.Record.
func RecordOf(c *Contact) filter.Record { return record{c} }

// Value returns the contact's value of the field, or nil if it is missing.
func (r record) Value(field string) any {
	if key, ok := strings.CutPrefix(field, attributePrefix); ok {
		return r.c.Attributes[key]
	}
	if f, ok := filterFields[field]; ok {
		return f.value(r.c)
	}
	return nil
}
