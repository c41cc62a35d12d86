package contacts

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// attributePrefix is the prefix of custom fields in a filter.
const attributePrefix = "attributes."

// fieldTypes maps the fields that a contact filter may name, besides attributes.KEY, to their types.
var fieldTypes = map[string]filter.Type{
	"email": filter.Text, "first_name": filter.Text, "last_name": filter.Text, "phone": filter.Text,
	"job_title": filter.Text,
	"source":    filter.Text, "time_zone": filter.Text, "company_id": filter.ID, "owner_id": filter.ID,
	"stage": filter.Key,
	"tag":   filter.Keys, "segment": filter.Keys, "lead_score": filter.Number, "created_at": filter.Time,
	"updated_at": filter.Time,
}

var attributeTypes = map[Type]filter.Type{
	String: filter.Text, Number: filter.Number, Boolean: filter.Boolean,
	Date: filter.Date,
}

// schema describes the fields of an org's contacts. It loads the custom fields when the first one is named.
type schema struct {
	ctx     context.Context // of the parses; the schema lives only for them
	tx      *postgres.Tx
	defined map[string]Type
	err     error
}

// Field returns the type of a field.
func (s *schema) Field(name string) (filter.Type, bool) {
	key, custom := strings.CutPrefix(name, attributePrefix)
	if !custom {
		t, ok := fieldTypes[name]
		return t, ok
	}
	if s.defined == nil && s.err == nil {
		s.defined, s.err = types(s.ctx, s.tx)
	}
	t, ok := s.defined[key]
	return attributeTypes[t], ok
}

// Names returns the field names in alphabetical order. Custom fields are included if they have been loaded.
func (s *schema) Names() []string {
	names := slices.Sorted(maps.Keys(fieldTypes))
	if s.defined == nil {
		return append(names, attributePrefix+"KEY for a custom field")
	}
	for _, key := range slices.Sorted(maps.Keys(s.defined)) {
		names = append(names, attributePrefix+key)
	}
	return names
}

func types(ctx context.Context, tx *postgres.Tx) (map[string]Type, error) {
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
	s := schema{ctx: ctx, tx: tx}
	return func(raw []byte) (*filter.Filter, error) {
		f, err := filter.Parse(raw, &s)
		if s.err != nil {
			return nil, s.err
		}
		return f, err
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
	text := func(s *string) any {
		if s == nil {
			return nil
		}
		return *s
	}
	uuid := func(i *id.ID) any {
		if i == nil {
			return nil
		}
		return *i
	}
	switch c := r.c; field {
	case "email":
		return c.Email
	case "first_name":
		return c.FirstName
	case "last_name":
		return c.LastName
	case "phone":
		return text(c.Phone)
	case "job_title":
		return text(c.JobTitle)
	case "source":
		return text(c.Source)
	case "time_zone":
		return text(c.TimeZone)
	case "company_id":
		return uuid(c.CompanyID)
	case "owner_id":
		return uuid(c.OwnerID)
	case "stage":
		return c.Stage
	case "tag":
		return c.Tag
	case "segment":
		return c.Segment
	case "lead_score":
		return c.LeadScore
	case "created_at":
		return c.CreatedAt.Time
	case "updated_at":
		return c.UpdatedAt.Time
	default:
		return nil
	}
}

// fieldExpressions maps fields stored in the rows c and s to their SQL expressions.
var fieldExpressions = map[string]string{
	"email": "c.email_folded", "first_name": "c.first_name_folded", "last_name": "c.last_name_folded",
	"phone":     "c.phone_folded",
	"job_title": "c.job_title_folded", "source": "c.source_folded", "time_zone": "c.time_zone_folded",
	"company_id": "c.company_id",
	"owner_id":   "c.owner_id", "stage": "c.stage", "lead_score": "s.score", "created_at": "c.created_at",
	"updated_at": "c.updated_at",
}
