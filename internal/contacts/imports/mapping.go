package imports

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// Column is a column of a file.
type Column struct {
	Name  string        `json:"name"`
	Field *string       `json:"field"` // field of the contact, attributes.KEY for a custom one; nil: ignored
	Type  contacts.Type `json:"type"`  // fits every value of the column
}

const attribute = "attributes."

// fields lists the built-in fields that a column can be mapped to.
var fields = slices.Concat([]string{"id", "email", "first_name", "last_name"}, contacts.TextNames(),
	contacts.ConsentNames(), []string{
		"company_id", "owner_id", "stage", "tag", "segment", "created_at",
	})

// ignored lists export columns that an import cannot set. id is ignored unless the mapping names it, because the file
// may come from another org with unknown ids.
var ignored = []string{
	"id", "lead_score", "score", "probability", "confidence", "model_version", "updated_at",
	"archived_at",
}

// aliases maps common column names, in plain form, to fields.
var aliases = map[string]string{
	"e_mail": "email", "mail": "email", "email_address": "email", "e_mail_address": "email",
	"firstname": "first_name", "given_name": "first_name", "lastname": "last_name", "surname": "last_name",
	"family_name":  "last_name",
	"phone_number": "phone", "telephone": "phone", "mobile": "phone",
	"title": "job_title", "jobtitle": "job_title", "position": "job_title",
	"lead_source": "source", "timezone": "time_zone", "company_uuid": "company_id", "lifecycle_stage": "stage",
	"tags": "tag", "segments": "segment",
	"created": "created_at",
}

// plain returns a column name in lower case with underscores.
func plain(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return strings.ContainsRune(" \t-_.", r)
	}), "_")
}

// guess returns the field for a column that the mapping does not name, or nil.
func guess(name string) *string {
	if name == "" || slices.Contains(ignored, plain(name)) {
		return nil
	}
	if key, is := strings.CutPrefix(name, attribute); is && contacts.ValidKey(key) {
		return &name
	}
	f := plain(name)
	if known, is := aliases[f]; is {
		f = known
	}
	if slices.Contains(fields, f) {
		return &f
	}
	key := strings.ReplaceAll(name, "/", "_")
	if !contacts.ValidKey(key) {
		return nil
	}
	key = attribute + key
	return &key
}

// header builds the columns from the first record.
func header(first []string) ([]Column, error) {
	names, err := sheet.Names(first)
	if err != nil {
		return nil, err
	}
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i].Name = name
	}
	return columns, nil
}

// columnNames returns the names of the columns.
func columnNames(columns []Column) []string {
	var names []string
	for _, c := range columns {
		if c.Name != "" {
			names = append(names, c.Name)
		}
	}
	return names
}

// mapTo sets each column's field: from the mapping, a JSON object of column to field or null, or else by the column's
// name. A mapping with an unknown column or field is a validation fault, and so is a file without email or id.
func mapTo(columns []Column, mapping []byte) error {
	given := map[string]*string{}
	if len(bytes.TrimSpace(mapping)) > 0 {
		if err := json.Unmarshal(mapping, &given); err != nil || given == nil {
			return fault.Invalid("mapping", "invalid_type",
				"The mapping is a JSON object of columns, each with a field's name or null.")
		}
	}
	var wrong []fault.FieldError
	say := func(column, code, detail string) {
		wrong = append(wrong,
			fault.FieldError{
				Pointer: "#/mapping/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(column), Code: code,
				Detail: detail,
			})
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		f := given[name]
		if !slices.ContainsFunc(columns, func(c Column) bool { return c.Name == name && name != "" }) {
			say(name, "unknown_column", fault.Choices("The file has no such column.", name, columnNames(columns)))
		}
		if f == nil || slices.Contains(fields, *f) {
			continue
		}
		if key, is := strings.CutPrefix(*f, attribute); !is || !contacts.ValidKey(key) {
			say(name, "unknown_field",
				fault.Choices("A contact has no such field.", *f,
					append(slices.Clone(fields), attribute+"KEY for a custom field")))
		}
	}
	taken := map[string]bool{} // true if set by the mapping
	for i := range columns {
		c := &columns[i]
		f, is := given[c.Name]
		if c.Field = nil; !is || c.Name == "" || f == nil {
			continue
		}
		if c.Field = f; taken[*f] {
			say(c.Name, "duplicate_field", "Another column is mapped to the same field.")
		}
		taken[*f] = true
	}
	for i := range columns {
		c := &columns[i]
		if _, is := given[c.Name]; is && c.Name != "" {
			continue
		}
		f := guess(c.Name)
		if f == nil || taken[*f] {
			continue // the mapping assigns the field to another column
		}
		c.Field = f
	}
	count := map[string]int{}
	for _, c := range columns {
		if c.Field == nil {
			continue
		}
		if count[*c.Field]++; count[*c.Field] == 2 && !taken[*c.Field] {
			say(c.Name, "duplicate_field", "Two columns have names of the same field: map one of them to null.")
		}
	}
	if count["email"]+count["id"] == 0 {
		wrong = append(wrong,
			fault.FieldError{
				Pointer: "#/mapping", Code: "required",
				Detail: "A column has to be mapped to email, or to id.",
			})
	}
	if len(wrong) > 0 {
		return &fault.Fault{
			Code: fault.ValidationFailed, Detail: "The file cannot be imported like this.",
			Fields: wrong[:min(len(wrong), 100)],
		}
	}
	return nil
}
