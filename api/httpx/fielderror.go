package httpx

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// mostComplaints is the maximum number of field errors in one problem.
const mostComplaints = 100

// Complaint converts one validation message about the parsed body to a field error. It converts huma's dotted location
// to a JSON pointer. shape is the document's description of the body.
func Complaint(location, message string, body any, shape Shape) fault.FieldError {
	path := strings.TrimPrefix(strings.TrimPrefix(location, "body"), ".")
	said := WordingOf(message)
	if _, at, ok := MisfitOf(message); ok {
		return fault.FieldError{Pointer: Pointer(at, body), Code: said.code, Detail: said.Text}
	}
	if name, ok := requiredName(message); ok {
		return fault.FieldError{
			Pointer: Pointer(path, body) + "/" + escapePointer(name), Code: said.code,
			Detail: "This field is required.",
		}
	}

	at := Pointer(path, body)
	if said.code == "unknown_field" {
		said.Text = shape.unknownDetail(at)
	}

	return fault.FieldError{Pointer: at, Code: said.code, Detail: said.Text}
}

// requiredName returns the member named by a message about a missing member.
func requiredName(message string) (string, bool) {
	before, after, _ := strings.Cut(requiredMember, "%s")
	name, ok := strings.CutPrefix(message, before)
	return strings.TrimSuffix(name, after), ok
}
