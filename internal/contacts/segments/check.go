package segments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const (
	maxName = 200 // characters
	maxKey  = 64
)

// checkName returns the errors in a name.
func checkName(name string) []fault.FieldError {
	switch {
	case strings.TrimSpace(name) == "":
		return fieldErrors("name", "required", "This field cannot be blank.")
	case utf8.RuneCountInString(name) > maxName:
		return fieldErrors("name", "too_long", "At most "+strconv.Itoa(maxName)+" characters are allowed.")
	case strings.ContainsFunc(name, form.NotInLine):
		return fieldErrors("name", "invalid_characters", "Control characters are not allowed.")
	}
	return nil
}

// checkKey applies the rules that contacts have for segment keys.
func checkKey(key string) []fault.FieldError {
	switch {
	case key == "" || strings.TrimSpace(key) != key:
		return fieldErrors("key", "invalid_key", "A key is not empty and has no blank at its ends.")
	case utf8.RuneCountInString(key) > maxKey:
		return fieldErrors("key", "too_long", "At most "+strconv.Itoa(maxKey)+" characters are allowed.")
	case strings.ContainsRune(key, ','), strings.ContainsFunc(key, form.NotInLine):
		return fieldErrors("key", "invalid_characters", "Commas and control characters are not allowed.")
	}
	return nil
}

func fieldErrors(field, code, detail string) []fault.FieldError {
	return []fault.FieldError{{Pointer: "#/" + field, Code: code, Detail: detail}}
}

func invalidRequest(fields []fault.FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	return &fault.Fault{Code: fault.ValidationFailed, Detail: "The request has invalid fields.", Fields: fields}
}

// keyOf derives a key from a name: lower case, with runs of letters and digits joined by dashes.
func keyOf(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	key := []rune(strings.Join(words, "-"))
	key = key[:min(len(key), maxKey-4)] // leave room for a number
	if len(key) == 0 {
		return "segment"
	}
	return strings.TrimSuffix(string(key), "-")
}

// parseFilter parses the filter of a segment and locks the custom fields that it reads until the transaction ends. It
// refuses a filter that reads segments, because such a segment would change without a change to any contact.
func parseFilter(ctx context.Context, tx *postgres.Tx, raw []byte) (*filter.Filter, error) {
	f, err := contacts.ParseFilter(ctx, tx, raw)
	if e, ok := errors.AsType[*filter.Error](err); ok {
		return nil, e.InBody("#/filter")
	}
	if err != nil {
		return nil, fmt.Errorf("parse filter: %w", err)
	}
	if slices.Contains(f.Fields(), "segment") {
		e := filter.Error{
			Path: nestedPath(raw), Code: "nested_segment",
			Detail: "The filter of a segment cannot read segments.",
		}
		return nil, e.InBody("#/filter")
	}

	var keys []string
	for _, field := range f.Fields() {
		if key, custom := strings.CutPrefix(field, "attributes."); custom {
			keys = append(keys, key)
		}
	}

	if len(keys) == 0 {
		return f, nil
	}

	held := 0
	if err := tx.QueryRow(ctx,
		`SELECT count(*) FROM (SELECT FROM contact_field WHERE org_id = $1 AND key = ANY ($2::text[])
			AND archived_at IS NULL FOR SHARE) AS named`,
		[]any{tx.Org(), keys}, &held); err != nil {
		return nil, fmt.Errorf("lock fields: %w", err)
	}
	if held < len(keys) {
		return nil, fault.New(fault.Conflict, "A custom field of the filter has been archived.")
	}

	return f, nil
}

// nestedPath returns the JSON pointer to a leaf of raw, a valid filter, that reads segments.
func nestedPath(raw []byte) string {
	var node struct {
		All, Any []json.RawMessage
		Not      json.RawMessage
		Field    string
	}
	if json.Unmarshal(raw, &node) != nil {
		return ""
	}
	if node.Field == "segment" {
		return "/field"
	}

	for name, parts := range map[string][]json.RawMessage{"all": node.All, "any": node.Any} {
		for i, part := range parts {
			if at := nestedPath(part); at != "" {
				return "/" + name + "/" + strconv.Itoa(i) + at
			}
		}
	}

	if node.Not != nil {
		if at := nestedPath(node.Not); at != "" {
			return "/not" + at
		}
	}

	return ""
}
