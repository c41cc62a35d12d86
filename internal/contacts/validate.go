package contacts

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // for time zones on systems without a database
	"unicode"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Maximum lengths in characters, and counts.
const (
	maxName      = 200
	maxPhone     = 50
	maxKey       = 64 // a tag, a segment's key, a stage, a field's key
	maxKeys      = 50 // tags per contact
	maxSegments  = 200
	maxText      = 2000
	maxFields    = 200 // definitions per org, and values per contact
	maxWrong     = 100 // errors reported per object
	exactInteger = 1 << 53
)

// MaxTags is the maximum number of tags of a contact.
const MaxTags = maxKeys

// checker collects the errors in one object.
type checker struct {
	path   string
	fields []fault.FieldError
}

func (c *checker) addError(field, code, detail string) {
	if len(c.fields) == maxWrong {
		return
	}
	c.fields = append(c.fields, fault.FieldError{Pointer: "#/" + c.path + field, Code: code, Detail: detail})
}

// checkText checks the rules for every one-line text.
func (c *checker) checkText(field, s string, longest int) bool {
	switch {
	case utf8.RuneCountInString(s) > longest:
		c.addError(field, "too_long", "At most "+strconv.Itoa(longest)+" characters are allowed.")
	case !utf8.ValidString(s) || strings.ContainsFunc(s, form.NotInLine):
		c.addError(field, "invalid_characters", "Control characters are not allowed.")
	default:
		return true
	}
	return false
}

// applyRequired applies a member that must be neither null nor blank.
func (c *checker) applyRequired(field string, in wire.Field[string], at *string, longest int) {
	if !in.Set {
		return
	}
	if in.Null {
		c.addError(field, "not_nullable", "This field cannot be null.")
		return
	}
	if strings.TrimSpace(in.Value) == "" {
		c.addError(field, "required", "This field cannot be blank.")
		return
	}
	if c.checkText(field, in.Value, longest) {
		*at = in.Value
	}
}

// applyOptional applies a member that a null or blank value clears.
func (c *checker) applyOptional(field string, in wire.Field[string], at **string, longest int) {
	if !in.Set {
		return
	}
	if in.Null || strings.TrimSpace(in.Value) == "" {
		*at = nil
		return
	}
	if c.checkText(field, in.Value, longest) {
		*at = &in.Value
	}
}

func (c *checker) applyID(field string, in wire.Field[string], at **id.ID) {
	if !in.Set {
		return
	}
	if in.Null {
		*at = nil
		return
	}
	i, err := id.Parse(in.Value)
	if err != nil {
		c.addError(field, "invalid_uuid", "This is not a UUID.")
		return
	}
	*at = &i
}

// applyKeys applies tags or segment keys, at most most: trimmed, without duplicates, in the order sent. null clears
// them.
func (c *checker) applyKeys(field string, in wire.Field[[]string], at *[]string, most int) {
	if !in.Set {
		return
	}

	out := make([]string, 0, len(in.Value))
	for i, k := range in.Value {
		if len(out) > most {
			break
		}
		k = strings.TrimSpace(k)
		each := field + "/" + strconv.Itoa(i)
		switch {
		case compare.Text(k) == "":
			c.addError(each, "required", "An entry cannot be blank.")
		case strings.ContainsRune(k, ','):
			c.addError(each, "invalid_characters", "A comma is not allowed.")
		case c.checkText(each, k, maxKey) && !containsName(out, k):
			out = append(out, k)
		}
	}

	if len(out) > most {
		c.addError(field, "too_many", "At most "+strconv.Itoa(most)+" entries are allowed.")
		return
	}

	*at = out
}

// mergeAttributes merges in into a copy of before. null removes a value.
func (c *checker) mergeAttributes(in wire.Field[map[string]any], before map[string]any) map[string]any {
	out := make(map[string]any, len(before)+len(in.Value))
	if in.Null {
		return out
	}

	maps.Copy(out, before)
	first := make(map[string]string, len(in.Value))
	for _, key := range slices.Sorted(maps.Keys(in.Value)) {
		value := in.Value[key]
		field := "attributes/" + escapePointer(key)
		folded := compare.Text(key)
		if twin, has := first[folded]; has {
			c.addError(field, "duplicate_key", "This key and "+strconv.Quote(twin)+" are one.")
			continue
		}
		first[folded] = key
		if value == nil {
			delete(out, key)
			continue
		}
		if !ValidKey(key) {
			c.addError(field, "invalid_key",
				"A key has 1 to 64 printable characters, no slash, no blank at its ends, and is not dots alone.")
			continue
		}
		switch x := value.(type) {
		case string:
			if utf8.RuneCountInString(x) > maxText {
				c.addError(field, "too_long", "At most "+strconv.Itoa(maxText)+" characters are allowed.")
				continue
			}
		case float64:
			if math.IsInf(x, 0) || math.IsNaN(x) || math.Abs(x) > exactInteger {
				c.addError(field, "out_of_range", "A number lies between -2^53 and 2^53.")
				continue
			}
		case bool:
		default:
			c.addError(field, "invalid_type", "A value is a string, a number, a boolean or null.")
			continue
		}
		out[key] = value
	}

	if len(out) > maxFields {
		c.addError("attributes", "too_many", "At most "+strconv.Itoa(maxFields)+" values are allowed.")
	}

	return out
}

// ValidKey reports whether key is valid for a custom field.
func ValidKey(key string) bool {
	return compare.Text(key) != "" && !isDotSegment(key) && utf8.RuneCountInString(key) <= maxKey &&
		utf8.ValidString(key) &&
		strings.TrimSpace(key) == key &&
		!strings.ContainsFunc(key, func(r rune) bool { return r == '/' || !unicode.IsPrint(r) })
}

// isDotSegment reports whether name is "." or "..": a path must not end in one, because clients and routers resolve dot
// segments (RFC 3986, 5.2.4).
func isDotSegment(name string) bool { return name == "." || name == ".." }

// escapePointer encodes s as a reference token of a JSON pointer (RFC 6901).
func escapePointer(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

// collapseSpaces collapses runs of whitespace to one space.
func collapseSpaces(s string) string { return strings.Join(strings.Fields(s), " ") }

func validZone(s string) bool {
	if s == "Local" {
		return false
	}
	_, err := time.LoadLocation(s)
	return err == nil
}

// invalidFields returns the 422 fault with fields, or nil if fields is empty.
func invalidFields(fields []fault.FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	return &fault.Fault{Code: fault.ValidationFailed, Detail: "The request has invalid fields.", Fields: fields}
}

// Keys normalizes tags or segment keys to their stored form: trimmed, without duplicates, at most most. Invalid keys
// are a validation fault. field is the JSON pointer to in.
func Keys(in []string, field string, most int) ([]string, error) {
	v := checker{}
	out := []string{}
	v.applyKeys(field, wire.Some(in), &out, most)
	return out, invalidFields(v.fields)
}
