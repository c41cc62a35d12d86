package contacts

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// applyTo applies p to c and returns the errors in p. path is the JSON pointer to p's object ("" or "contacts/3/"). c
// shares no data with the contact that it was copied from, because arrays and objects are replaced.
func (p *Patch) applyTo(c *Contact, path string) []fault.FieldError {
	v := checker{path: path}
	v.readOnly(p, c)

	v.applyRequired("email", p.Email, &c.Email, maxEmail)
	if p.Email.Set && c.Email != "" && !ValidEmail(c.Email) {
		v.addError("email", "invalid_email", "This is not an email address.")
	}
	v.applyRequired("first_name", p.FirstName, &c.FirstName, maxName)
	v.applyRequired("last_name", p.LastName, &c.LastName, maxName)
	v.applyRequired("stage", p.Stage, &c.Stage, maxKey)
	for i := range optionalTexts {
		t := &optionalTexts[i]
		v.applyOptional(t.Name, *t.In(p), t.Of(c), t.longest)
	}

	if p.Phone.Set && c.Phone != nil {
		*c.Phone = collapseSpaces(*c.Phone)
	}
	if p.TimeZone.Set && c.TimeZone != nil && !validZone(*c.TimeZone) {
		v.addError("time_zone", "invalid_time_zone", "This is not a name of the IANA time zone database.")
	}
	if p.Country.Set && c.Country != nil {
		code, ok := CountryCode(*c.Country)
		if c.Country = &code; !ok {
			v.addError("country", "invalid_country", "This is not a code of ISO 3166-1 alpha-2, such as DE.")
		}
	}
	if p.Consent.Set {
		c.Consent = v.mergeConsent(p.Consent, c.Consent)
	}
	v.applyID("company_id", p.CompanyID, &c.CompanyID)
	v.applyID("owner_id", p.OwnerID, &c.OwnerID)
	v.applyKeys("tag", p.Tag, &c.Tag, maxKeys)
	v.applyKeys("segment", p.Segment, &c.Segment, maxSegments)
	if p.Attributes.Set {
		c.Attributes = v.mergeAttributes(p.Attributes, c.Attributes)
	}

	c.ExternalIDs = externalid.Apply(p.ExternalIDs, c.ExternalIDs, v.addError)

	return v.fields
}

// applyToNew applies p to a contact that does not exist yet.
func (p *Patch) applyToNew(c *Contact, path string) []fault.FieldError {
	wrong := p.applyTo(c, path)
	for _, f := range []struct {
		name string
		in   wire.Field[string]
	}{{"email", p.Email}, {"first_name", p.FirstName}, {"last_name", p.LastName}} {
		if !f.in.Set {
			wrong = append(wrong,
				fault.FieldError{Pointer: "#/" + path + f.name, Code: "required", Detail: "This field is required."})
		}
	}
	return wrong
}

// readOnly refuses a read-only member unless it has the current value.
func (c *checker) readOnly(p *Patch, now *Contact) {
	if len(p.ReadOnly) == 0 {
		return
	}
	current := map[string]any{
		"id": now.ID, "lead_score": now.LeadScore, "score": now.Score, "created_at": now.CreatedAt,
		"updated_at": now.UpdatedAt, "archived_at": now.ArchivedAt,
	}
	for _, name := range slices.Sorted(maps.Keys(p.ReadOnly)) {
		if !equalsCurrent(p.ReadOnly[name], current[name]) {
			c.addError(name, "read_only", "This field is computed by the service and cannot be set.")
		}
	}
}

// equalsCurrent reports whether sent equals current: equal JSON, equal times or equal ids.
func equalsCurrent(sent json.RawMessage, current any) bool {
	var at wire.Time
	switch c := current.(type) {
	case wire.Time:
		return json.Unmarshal(sent, &at) == nil && at.Equal(c.Time)
	case *wire.Time:
		if c != nil {
			return json.Unmarshal(sent, &at) == nil && at.Equal(c.Time)
		}
	case id.ID:
		var i id.ID
		return json.Unmarshal(sent, &i) == nil && i == c
	}

	b, err := json.Marshal(current)
	if err != nil {
		return false
	}

	var x, y any
	return json.Unmarshal(sent, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// previousValues returns the previous values, from a, of the fields in which b differs from a, by JSON name. It
// excludes the times of the change itself.
func previousValues(a, b *Contact) map[string]any {
	was := map[string]any{}
	differ := func(name string, same bool, before any) {
		if !same {
			was[name] = before
		}
	}
	differ("email", a.Email == b.Email, a.Email)
	differ("first_name", a.FirstName == b.FirstName, a.FirstName)
	differ("last_name", a.LastName == b.LastName, a.LastName)
	for i := range optionalTexts {
		before := *optionalTexts[i].Of(a)
		after := *optionalTexts[i].Of(b)
		differ(optionalTexts[i].Name, equalPointees(before, after), before)
	}

	differ("consent", reflect.DeepEqual(a.Consent, b.Consent), a.Consent)
	differ("company_id", equalPointees(a.CompanyID, b.CompanyID), a.CompanyID)
	differ("stage", a.Stage == b.Stage, a.Stage)
	differ("tag", slices.Equal(a.Tag, b.Tag), a.Tag)
	differ("segment", slices.Equal(a.Segment, b.Segment), a.Segment)
	differ("attributes", len(a.Attributes) == len(b.Attributes) && reflect.DeepEqual(a.Attributes, b.Attributes),
		a.Attributes)
	differ(externalid.Member, maps.Equal(a.ExternalIDs, b.ExternalIDs), a.ExternalIDs)
	differ("owner_id", equalPointees(a.OwnerID, b.OwnerID), a.OwnerID)
	differ("lead_score", a.LeadScore == b.LeadScore, a.LeadScore)
	differ("score", a.Score == b.Score, a.Score)
	return was
}

func equalPointees[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
