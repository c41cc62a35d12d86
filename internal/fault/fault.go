// Package fault provides the only kind of error that an API caller may see: a code from the published list and a
// sentence for people. Every other error is logged and the response is a 500 without details.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Fault describes an error of the caller and its remedy. Detail is shown to the caller: it must not contain SQL, Go
// terms, a secret or an id from the path.
type Fault struct {
	Code   Code
	Detail string
	// Fields are the wrong parts of the request.
	Fields []FieldError
	// ExistingID is the id of the conflicting row, if there is one.
	ExistingID string
	// RetryAfter, if positive, is sent as Retry-After in whole seconds, rounded up.
	RetryAfter time.Duration
	// More has further members of the problem (snake_case), such as limit, used and upgrade_to.
	More map[string]any
	// cause is logged and never shown.
	cause error
}

// FieldError is one wrong part of a request: a JSON pointer into the body (as a fragment, "#/email") or the name of a
// parameter.
type FieldError struct {
	Pointer   string `json:"pointer,omitempty"`
	Parameter string `json:"parameter,omitempty" doc:"Name of the invalid query parameter or header"`
	Code      string `json:"code" doc:"What is wrong, for programs; such as required, too_long or unknown_field"`
	Detail    string `json:"detail" doc:"What is wrong and what is expected, for people"`
}

// Descriptions implements wire.Describer.
func (FieldError) Descriptions() map[string]string {
	return map[string]string{
		"pointer": "JSON pointer to the invalid member of the body, as a URI fragment such as #/email",
	}
}

// New returns a fault with a constant detail.
func New(code Code, detail string) *Fault { return &Fault{Code: code, Detail: detail} }

// Newf is New with a formatted detail.
func Newf(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Invalid returns a 422 for one field of the body. field is its path without the leading slash ("email", "tag/0").
func Invalid(field, code, detail string) *Fault {
	return &Fault{
		Code: ValidationFailed, Detail: "The request has invalid fields.",
		Fields: []FieldError{{Pointer: "#/" + field, Code: code, Detail: detail}},
	}
}

// Parameter returns a 400 for one query or header parameter.
func Parameter(name, code, detail string) *Fault {
	return &Fault{
		Code: InvalidParameter, Detail: "The request has invalid parameters.",
		Fields: []FieldError{{Parameter: name, Code: code, Detail: detail}},
	}
}

// Because attaches err for the log and returns f.
func (f *Fault) Because(err error) *Fault {
	f.cause = err
	return f
}

func (f *Fault) Error() string {
	if f.cause != nil {
		return fmt.Sprintf("%s: %s: %v", f.Code, f.Detail, f.cause)
	}
	return fmt.Sprintf("%s: %s", f.Code, f.Detail)
}

func (f *Fault) Unwrap() error { return f.cause }

// Of returns the fault in err's chain, or nil.
func Of(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return nil
}

// Is reports whether err's chain has a fault with that code.
func Is(err error, code Code) bool {
	f := Of(err)
	return f != nil && f.Code == code
}
