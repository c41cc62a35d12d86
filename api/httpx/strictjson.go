package httpx

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// maxDepth is the maximum nesting depth of arrays and objects.
const maxDepth = 32

// ScanJSON scans b once and accepts only JSON that all parsers interpret alike: one value (RFC 8259) without repeated
// members, without text that Postgres cannot store, and without numbers outside float64. Invalid JSON is a 400; valid
// JSON that is not accepted is a 422.
func ScanJSON(b []byte) error {
	s := scanner{b: b}
	s.skipSpace()
	f := s.scanValue(0)
	if f == nil {
		s.skipSpace()
		if s.i < len(b) {
			f = s.malformedAt("more follows after the value")
		}
	}
	if f == nil {
		return nil
	}
	if len(f.Fields) > 0 {
		f.Fields[0].Pointer = "#" + f.Fields[0].Pointer
	}

	return f
}

type scanner struct {
	b     []byte
	i     int
	names []string // members of all open objects
}

func (s *scanner) malformedAt(why string) *fault.Fault {
	return fault.Newf(fault.MalformedJSON, "The body is not JSON: %s, at byte %d.", why, s.i)
}

func unplacedFault(code, detail string) *fault.Fault {
	return &fault.Fault{
		Code: fault.ValidationFailed, Detail: "The request has invalid fields.",
		Fields: []fault.FieldError{{Code: code, Detail: detail}},
	}
}

func (s *scanner) skipSpace() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) scanValue(depth int) *fault.Fault {
	switch c := s.peek(); {
	case c == '{' || c == '[':
		if depth == maxDepth {
			return unplacedFault("too_deep", fmt.Sprintf("Arrays and objects may nest %d deep.", maxDepth))
		}
		s.i++
		if c == '{' {
			return s.scanObject(depth + 1)
		}
		return s.scanArray(depth + 1)
	case c == '"':
		_, f := s.scanString(false)
		return f
	case c == '-' || c >= '0' && c <= '9':
		return s.scanNumber()
	case s.i >= len(s.b):
		return s.malformedAt("it ends too early")
	}

	for _, word := range []string{"true", "false", "null"} {
		if len(s.b)-s.i >= len(word) && string(s.b[s.i:s.i+len(word)]) == word {
			s.i += len(word)
			return nil
		}
	}

	return s.malformedAt("unexpected character")
}

// prependPointer prepends name to the pointers of f.
func prependPointer(f *fault.Fault, name string) *fault.Fault {
	if f != nil && len(f.Fields) > 0 {
		f.Fields[0].Pointer = "/" + escapePointer(name) + f.Fields[0].Pointer
	}
	return f
}

func (s *scanner) scanArray(depth int) *fault.Fault {
	s.skipSpace()
	if s.peek() == ']' {
		s.i++
		return nil
	}
	for n := 0; ; n++ {
		s.skipSpace()
		if f := s.scanValue(depth); f != nil {
			return prependPointer(f, strconv.Itoa(n))
		}

		s.skipSpace()
		switch s.peek() {
		case ',':
			s.i++
		case ']':
			s.i++
			return nil
		default:
			return s.malformedAt("an array is not closed")
		}
	}
}

// few is the number of members up to which isRepeated compares names one by one instead of using a set.
const few = 24

func (s *scanner) scanObject(depth int) *fault.Fault {
	s.skipSpace()
	if s.peek() == '}' {
		s.i++
		return nil
	}

	first := len(s.names)
	defer func() { s.names = s.names[:first] }()

	var seen map[string]bool
	for {
		s.skipSpace()
		if s.peek() != '"' {
			return s.malformedAt("a member has no name")
		}

		name, f := s.scanString(true)
		if f != nil {
			return f
		}

		if isRepeated(s.names[first:], name, &seen) {
			return &fault.Fault{
				Code: fault.DuplicateKey, Detail: "An object has the same member twice.",
				Fields: []fault.FieldError{{
					Pointer: "/" + escapePointer(name), Code: "duplicate_key", Detail: "This member is given twice.",
				}},
			}
		}

		s.names = append(s.names, name)
		s.skipSpace()
		if s.peek() != ':' {
			return s.malformedAt("a member has no value")
		}

		s.i++
		s.skipSpace()
		if f := s.scanValue(depth); f != nil {
			return prependPointer(f, name)
		}

		s.skipSpace()
		switch s.peek() {
		case ',':
			s.i++
		case '}':
			s.i++
			return nil
		default:
			return s.malformedAt("an object is not closed")
		}
	}
}

// isRepeated reports whether name is in names. It keeps the names in seen once there are many.
func isRepeated(names []string, name string, seen *map[string]bool) bool {
	if *seen == nil && len(names) >= few {
		*seen = make(map[string]bool, 2*few)
		for _, n := range names {
			(*seen)[n] = true
		}
	}

	if *seen != nil {
		if (*seen)[name] {
			return true
		}
		(*seen)[name] = true
		return false
	}

	for _, n := range names {
		if n == name {
			return true
		}
	}

	return false
}

// scanString reads a string from its opening quote. It decodes the string only if keep is true.
func (s *scanner) scanString(keep bool) (string, *fault.Fault) {
	s.i++
	begin := s.i
	plain := true
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			raw := s.b[begin:s.i]
			s.i++
			switch {
			case !keep:
				return "", nil
			case plain:
				return string(raw), nil
			}
			var name string
			_ = json.Unmarshal(s.b[begin-1:s.i], &name) // just validated
			return name, nil
		case c == '\\':
			plain = false
			if f := s.scanEscape(); f != nil {
				return "", f
			}
		case c < 0x20:
			return "", s.malformedAt("a control character stands in a string")
		case c < utf8.RuneSelf:
			s.i++
		default:
			r, n := utf8.DecodeRune(s.b[s.i:])
			if r == utf8.RuneError && n == 1 {
				return "", unplacedFault("invalid_text", "Text is UTF-8.")
			}
			s.i += n
		}
	}

	return "", s.malformedAt("a string is not closed")
}

// scanEscape reads one escape sequence from its backslash.
func (s *scanner) scanEscape() *fault.Fault {
	if s.i++; s.i >= len(s.b) {
		return s.malformedAt("it ends too early")
	}

	switch s.b[s.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i++
		return nil
	case 'u':
	default:
		return s.malformedAt("unknown escape")
	}

	r, ok := parseHex4(s.b[s.i+1:])
	if !ok {
		return s.malformedAt("unknown escape")
	}

	s.i += 5
	switch {
	case r == 0:
		return unplacedFault("invalid_text", "Text cannot hold NUL.")
	case !utf16.IsSurrogate(r):
		return nil
	}

	if len(s.b)-s.i >= 6 && s.b[s.i] == '\\' && s.b[s.i+1] == 'u' {
		if low, ok := parseHex4(s.b[s.i+2:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			s.i += 6
			return nil
		}
	}

	return unplacedFault("invalid_text", "A surrogate stands alone.")
}

func parseHex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	return rune(n), err == nil
}

func (s *scanner) skipDigits() int {
	begin := s.i
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.i++
	}
	return s.i - begin
}

func (s *scanner) scanNumber() *fault.Fault {
	begin := s.i
	if s.peek() == '-' {
		s.i++
	}

	zero := s.peek() == '0'
	whole := s.skipDigits()
	if whole == 0 || zero && whole > 1 {
		return s.malformedAt("that is no number")
	}

	if s.peek() == '.' {
		s.i++
		if s.skipDigits() == 0 {
			return s.malformedAt("that is no number")
		}
	}

	exponent := false
	if c := s.peek(); c == 'e' || c == 'E' {
		exponent = true
		s.i++
		if c := s.peek(); c == '+' || c == '-' {
			s.i++
		}
		if s.skipDigits() == 0 {
			return s.malformedAt("that is no number")
		}
	}
	if exponent || whole > 300 {
		if _, err := strconv.ParseFloat(string(s.b[begin:s.i]), 64); err != nil {
			return unplacedFault("out_of_range", "The number is too large.")
		}
	}

	return nil
}
