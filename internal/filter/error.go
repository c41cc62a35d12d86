package filter

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Error is what is wrong with a filter, at its first wrong place.
type Error struct {
	Path   string // JSON pointer (RFC 6901) inside the filter, such as /all/1/value; "" is the whole
	Code   string // malformed_json, duplicate_key, unknown_key, unknown_field, unknown_op, required, invalid_type, invalid_value, too_deep, too_many, too_long
	Detail string // a sentence for people
}

func (e *Error) Error() string { return "filter" + e.Path + ": " + e.Code + ": " + e.Detail }

// InQuery is the answer where the filter came as the query's parameter of that name; its detail begins with the path.
func (e *Error) InQuery(name string) *fault.Fault {
	return e.fault(fault.Field{Parameter: name, Code: e.Code, Detail: e.where() + e.Detail})
}

// InBody is the answer where the filter is the member at that pointer of the body, such as "#/filter".
func (e *Error) InBody(pointer string) *fault.Fault {
	return e.fault(fault.Field{Pointer: pointer + e.Path, Code: e.Code, Detail: e.where() + e.Detail})
}

func (e *Error) where() string {
	if e.Path == "" {
		return ""
	}
	return "At " + e.Path + ": "
}

func (e *Error) fault(f fault.Field) *fault.Fault {
	return &fault.Fault{Code: fault.InvalidFilter, Detail: "The filter is not valid.", Fields: []fault.Field{f}}
}

// escape makes one reference token of a JSON pointer.
func escape(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }
