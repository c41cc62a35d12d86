package filter

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Error is the first error in a filter.
type Error struct {
	Path string // JSON pointer (RFC 6901) inside the filter, such as /all/1/value; "" for the whole filter
	// malformed_json, duplicate_key, unknown_key, unknown_field, unknown_op, required, invalid_type, invalid_value,
	// too_deep, too_many, too_long
	Code   string
	Detail string // a sentence for users
}

func (e *Error) Error() string { return "filter" + e.Path + ": " + e.Code + ": " + e.Detail }

// InQuery returns the fault for a filter in the query parameter name. Its detail begins with the path.
func (e *Error) InQuery(name string) *fault.Fault {
	return e.faultOf(fault.FieldError{Parameter: name, Code: e.Code, Detail: e.placeText() + e.Detail})
}

// InBody returns the fault for a filter in the member at pointer of the body, such as "#/filter".
func (e *Error) InBody(pointer string) *fault.Fault {
	return e.faultOf(fault.FieldError{Pointer: pointer + e.Path, Code: e.Code, Detail: e.placeText() + e.Detail})
}

func (e *Error) placeText() string {
	if e.Path == "" {
		return ""
	}
	return "At " + e.Path + ": "
}

func (e *Error) faultOf(f fault.FieldError) *fault.Fault {
	return &fault.Fault{Code: fault.InvalidFilter, Detail: "The filter is not valid.", Fields: []fault.FieldError{f}}
}

// escapeToken encodes s as a reference token of a JSON pointer.
func escapeToken(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }
