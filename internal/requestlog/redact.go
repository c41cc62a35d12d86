package requestlog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of what is kept of a body.
const (
	mostParsed = 256 << 10 // bytes of a body that is looked at
	mostKept   = 2 << 10   // bytes of a result
	mostValue  = 200       // characters of a value
	mostDepth  = 32
)

// redacted replaces a value that is not kept.
const redacted = "[redacted]"

// LoggedError is one wrong part of a request, without its value.
type LoggedError struct {
	Pointer   string `json:"pointer,omitempty" doc:"JSON pointer to the wrong member of the body"`
	Parameter string `json:"parameter,omitempty" doc:"Name of the wrong query parameter or header"`
	Code      string `json:"code" doc:"What was wrong, as in the problem"`
}

// mostErrors is how many errors of a request are kept.
const mostErrors = 20

// EncodeErrors returns what is kept of the errors of a request.
func EncodeErrors(all []LoggedError) json.RawMessage {
	kept := make([]LoggedError, 0, min(len(all), mostErrors))
	for _, m := range all[:min(len(all), mostErrors)] {
		kept = append(kept, LoggedError{Pointer: cutText(m.Pointer), Parameter: cutText(m.Parameter), Code: m.Code})
	}

	b, err := json.Marshal(kept)
	if err != nil {
		return nil
	}

	return b
}

// Redact returns the JSON body of a failed request with the values of its faulty members; pointers are URI fragments.
// Other values are replaced, and so is what looks like a secret. It returns nil for a body that is no JSON, or too
// long.
func Redact(body []byte, faulty []string) json.RawMessage {
	if len(body) == 0 || len(body) > mostParsed {
		return nil
	}

	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}

	root := &spot{}
	for _, pointer := range faulty {
		root.markFaulty(pointer)
	}

	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(root.showValue(value, false, mostDepth)) != nil || out.Len() > mostKept {
		return nil
	}

	return bytes.TrimSpace(out.Bytes())
}

// spot is a place in a body that is faulty, or within which a faulty one is.
type spot struct {
	faulty bool
	within map[string]*spot
}

// markFaulty marks the place that a pointer such as #/attributes/size names.
func (s *spot) markFaulty(pointer string) {
	at := s
	for _, token := range strings.Split(strings.TrimPrefix(pointer, "#"), "/")[1:] {
		name := unescapeToken(token)
		if at.within[name] == nil {
			if at.within == nil {
				at.within = map[string]*spot{}
			}
			at.within[name] = &spot{}
		}
		at = at.within[name]
	}
	at.faulty = true
}

// showValue returns what is kept of value, which is at s. s is nil if nothing in value is faulty. secret reports
// whether the name of a member around value is that of a secret.
func (s *spot) showValue(value any, secret bool, depth int) any {
	if depth == 0 {
		return redacted
	}

	switch v := value.(type) {
	case map[string]any:
		if s == nil {
			return redacted
		}
		return s.showMembers(v, secret, depth)
	case []any:
		if s == nil || len(s.within) == 0 {
			return redacted
		}
		return s.showElements(v, secret, depth)
	case nil:
		return nil
	}

	if s == nil || !s.faulty || secret {
		return redacted
	}
	text, ok := value.(string)
	if !ok {
		return value // a number or a boolean
	}

	return withoutSecrets(text)
}

func (s *spot) showMembers(members map[string]any, secret bool, depth int) any {
	shown := make(map[string]any, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		shown[cutText(name)] = s.within[name].showValue(members[name], secret || namesSecret(name), depth-1)
	}
	return shown
}

// showElements returns the elements up to the last faulty one.
func (s *spot) showElements(elements []any, secret bool, depth int) any {
	last := -1
	for name := range s.within {
		if i, err := strconv.Atoi(name); err == nil && i < len(elements) {
			last = max(last, i)
		}
	}

	shown := make([]any, last+1)
	for i := range shown {
		shown[i] = s.within[strconv.Itoa(i)].showValue(elements[i], secret, depth-1)
	}

	return shown
}

// cutText returns text with at most mostValue characters.
func cutText(text string) string {
	if utf8.RuneCountInString(text) <= mostValue {
		return text
	}
	return string([]rune(text)[:mostValue]) + "…"
}
