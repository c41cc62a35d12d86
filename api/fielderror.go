package api

import (
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// fieldCodes are the codes of errors[] by the beginning of huma's message. Handlers may use further ones.
var fieldCodes = []struct{ prefix, code string }{
	{"expected required", "required"},
	{"required", "required"},
	{"unexpected property", "unknown_field"},
	{"expected length >=", "too_short"},
	{"expected length <=", "too_long"},
	{"expected array length >=", "too_few"},
	{"expected array length <=", "too_many"},
	{"expected object with at least", "too_few"},
	{"expected object with at most", "too_many"},
	{"expected array items to be unique", "repeated"},
	{"expected value to be one of", "not_allowed"},
	{"expected number >", "out_of_range"},
	{"expected number <", "out_of_range"},
	{"expected number to be a multiple", "out_of_range"},
	{"expected string to", "invalid_format"},
	{"expected value to match", "invalid_type"},
	{"expected", "invalid_type"},
	{"invalid", "invalid_format"},
}

func fieldCode(message string) string {
	for _, c := range fieldCodes {
		if strings.HasPrefix(message, c.prefix) {
			return c.code
		}
	}
	return "invalid"
}

// sentence is huma's message without the text of a Go error behind its colon, as a sentence.
func sentence(message string) string {
	message, _, _ = strings.Cut(message, ": ")
	if strings.HasPrefix(message, "invalid date/time") { // huma goes on with Go's layout
		return "Not a time of RFC 3339, such as 2026-01-31T00:00:00Z."
	}
	if message == "" {
		return "Not valid."
	}
	return strings.ToUpper(message[:1]) + message[1:] + "."
}

// mostComplaints is how many wrong parts one problem names. What is wrong in so many places is told by the first.
const mostComplaints = 100

// complaint is one complaint about the body, parsed, with the pointer that huma's dotted location stands for.
func complaint(location, message string, body any) fault.Field {
	path := strings.TrimPrefix(strings.TrimPrefix(location, "body"), ".")
	if at, ok := strings.CutPrefix(message, misfit); ok {
		return fault.Field{Pointer: pointer(at, body), Code: "invalid_type", Detail: "The value has a wrong type or is out of range."}
	}
	if name, ok := strings.CutPrefix(message, "expected required property "); ok {
		name = strings.TrimSuffix(name, " to be present")
		return fault.Field{Pointer: pointer(path, body) + "/" + escape(name), Code: "required", Detail: "This field is required."}
	}
	code := fieldCode(message)
	if code == "unknown_field" {
		return fault.Field{Pointer: pointer(path, body), Code: code, Detail: "There is no such field. Names match exactly."}
	}
	return fault.Field{Pointer: pointer(path, body), Code: code, Detail: sentence(message)}
}

// pointer turns "friends[0].name" into "#/friends/0/name". Members whose names hold dots or brackets are told
// by looking them up in the body.
func pointer(path string, at any) string {
	var out strings.Builder
	out.WriteByte('#')
	for path != "" {
		var name string
		switch v := at.(type) {
		case map[string]any:
			name, path = memberName(path, v)
			at = v[name]
		case []any:
			name, path = element(path)
			at = nil
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v) {
				at = v[i]
			}
		default:
			name, path = element(path)
			at = nil
		}
		out.WriteString("/" + escape(name))
	}
	return out.String()
}

// memberName takes the longest name of v that path begins with, or what ends at the next dot or bracket.
func memberName(path string, v map[string]any) (name, rest string) {
	for k := range v {
		tail, ok := strings.CutPrefix(path, k)
		if ok && len(k) >= len(name) && (tail == "" || tail[0] == '.' || tail[0] == '[') {
			name, rest = k, strings.TrimPrefix(tail, ".")
		}
	}
	if name != "" {
		return name, rest
	}
	return element(path)
}

// element takes "[0]" or a plain name off path.
func element(path string) (name, rest string) {
	if strings.HasPrefix(path, "[") {
		name, rest, _ = strings.Cut(path[1:], "]")
		return name, strings.TrimPrefix(rest, ".")
	}
	if i := strings.IndexAny(path, ".["); i > 0 {
		return path[:i], strings.TrimPrefix(path[i:], ".")
	}
	return path, ""
}

// escape is RFC 6901's, with the percent-encoding that a URI fragment needs.
func escape(name string) string {
	name = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	var out strings.Builder
	for i := range len(name) {
		b := name[i]
		if b > 0x20 && b < 0x7f && !strings.ContainsRune(`"%<>\^`+"`{|}#", rune(b)) {
			out.WriteByte(b)
			continue
		}
		out.WriteString("%" + strings.ToUpper(strconv.FormatInt(int64(b)+0x100, 16)[1:]))
	}
	return out.String()
}
