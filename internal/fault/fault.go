// Package fault is the one kind of error that a caller of the API may see: a code from the published list
// and a sentence for people. Every other error is logged and answered as a mute 500.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Fault says what the caller did and can do about it. Detail is shown to the caller: it never names SQL,
// Go, a secret or an id of the path.
type Fault struct {
	Code   Code
	Detail string
	// Fields point at the parts of the request that are wrong.
	Fields []Field
	// ExistingID is the row that a conflict is about, where there is one.
	ExistingID string
	// RetryAfter, when positive, is answered as Retry-After in whole seconds, rounded up.
	RetryAfter time.Duration
	// More are further members of the problem (snake_case), such as limit, used and upgrade_to.
	More map[string]any
	// cause is logged, never shown.
	cause error
}

// Field is one wrong part: a JSON pointer into the body (as a fragment, "#/email") or a parameter's name.
type Field struct {
	Pointer   string `json:"pointer,omitempty"`
	Parameter string `json:"parameter,omitempty"`
	Code      string `json:"code"`
	Detail    string `json:"detail"`
}

// New answers a fault with a constant detail.
func New(code Code, detail string) *Fault { return &Fault{Code: code, Detail: detail} }

// Newf is New with a formatted detail.
func Newf(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Invalid is a 422 about one field of the body; field is its path without the leading slash ("email", "tag/0").
func Invalid(field, code, detail string) *Fault {
	return &Fault{Code: ValidationFailed, Detail: "The request has invalid fields.", Fields: []Field{{Pointer: "#/" + field, Code: code, Detail: detail}}}
}

// Parameter is a 400 about one query or header parameter.
func Parameter(name, code, detail string) *Fault {
	return &Fault{Code: InvalidParameter, Detail: "The request has invalid parameters.", Fields: []Field{{Parameter: name, Code: code, Detail: detail}}}
}

// Because keeps err for the log.
func (f *Fault) Because(err error) *Fault { f.cause = err; return f }

func (f *Fault) Error() string {
	if f.cause != nil {
		return fmt.Sprintf("%s: %s: %v", f.Code, f.Detail, f.cause)
	}
	return fmt.Sprintf("%s: %s", f.Code, f.Detail)
}

func (f *Fault) Unwrap() error { return f.cause }

// Of finds the fault in err's chain; nil where there is none.
func Of(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return nil
}

// Is tells whether err carries a fault of that code.
func Is(err error, code Code) bool {
	f := Of(err)
	return f != nil && f.Code == code
}
