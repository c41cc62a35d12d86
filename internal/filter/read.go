package filter

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// object is a JSON object with its members in the order sent.
type object []member

type member struct {
	name  string
	value any // nil, string, json.Number, bool, object or []any
}

// deepest is the maximum nesting of a filter's JSON: an object and a list for each group, the leaf, and its list.
const deepest = 2*MaxDepth + 6

// parseJSON parses the JSON of raw: one value without duplicate members, and without text that Postgres cannot store.
func parseJSON(raw []byte) (any, *Error) {
	switch {
	case len(raw) > maxBytes:
		return nil, &Error{Code: "too_long", Detail: "A filter has at most 64 KiB."}
	case !utf8.Valid(raw):
		return nil, &Error{Code: "malformed_json", Detail: "The filter is not UTF-8."}
	case loneSurrogate(raw):
		return nil, &Error{Code: "invalid_value", Detail: "A text holds half of a surrogate pair."}
	}
	r := reader{dec: json.NewDecoder(bytes.NewReader(raw))}
	r.dec.UseNumber()
	v, err := r.readValue("", 0)
	if err != nil {
		return nil, err
	}
	if _, more := r.dec.Token(); !errors.Is(more, io.EOF) {
		return nil, &Error{Code: "malformed_json", Detail: "More follows after the filter."}
	}
	return v, nil
}

type reader struct{ dec *json.Decoder }

func malformedError(path string) *Error {
	return &Error{Path: path, Code: "malformed_json", Detail: "This is not JSON."}
}

func (r *reader) readValue(path string, depth int) (any, *Error) {
	t, err := r.dec.Token()
	if err != nil {
		return nil, malformedError(path)
	}
	switch t {
	case json.Delim('{'), json.Delim('['):
		if depth == deepest {
			return nil, tooDeep(path)
		}
		if t == json.Delim('{') {
			return r.readObject(path, depth+1)
		}
		return r.readArray(path, depth+1)
	}
	if s, ok := t.(string); ok && strings.ContainsRune(s, 0) {
		return nil, &Error{Path: path, Code: "invalid_value", Detail: "A text cannot hold NUL."}
	}
	return t, nil
}

func (r *reader) readObject(path string, depth int) (any, *Error) {
	var o object
	for r.dec.More() {
		t, err := r.dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, malformedError(path)
		}
		at := path + "/" + escapeToken(name)
		for _, m := range o {
			if m.name == name {
				return nil, &Error{Path: at, Code: "duplicate_key", Detail: "This member appears twice."}
			}
		}
		v, wrong := r.readValue(at, depth)
		if wrong != nil {
			return nil, wrong
		}
		o = append(o, member{name, v})
	}
	if _, err := r.dec.Token(); err != nil {
		return nil, malformedError(path)
	}
	return o, nil
}

func (r *reader) readArray(path string, depth int) (any, *Error) {
	a := []any{}
	for r.dec.More() {
		v, wrong := r.readValue(path+"/"+strconv.Itoa(len(a)), depth)
		if wrong != nil {
			return nil, wrong
		}
		a = append(a, v)
	}
	if _, err := r.dec.Token(); err != nil {
		return nil, malformedError(path)
	}
	return a, nil
}

// loneSurrogate reports whether raw has an escape that is half of a surrogate pair. The decoder would silently replace
// it.
func loneSurrogate(raw []byte) bool {
	unit := func(b []byte) (rune, bool) {
		if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
		return rune(n), err == nil
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		r, ok := unit(raw[i:])
		switch {
		case !ok:
			i++ // another escape
		case !utf16.IsSurrogate(r):
			i += 5
		default:
			low, ok := unit(raw[i+6:])
			if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
				return true
			}
			i += 11
		}
	}
	return false
}
