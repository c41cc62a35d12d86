package parse

import (
	"bytes"
	"mime"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Header is the fields of a header, in their order.
type Header []Field

// Field is one field of a header, unfolded. Its value is as it was sent.
type Field struct{ Name, Value string }

// Get returns the first value of a field, or "".
func (h Header) Get(name string) string {
	v, _ := h.findField(name)
	return v
}

// Has reports whether the header has a field.
func (h Header) Has(name string) bool {
	_, ok := h.findField(name)
	return ok
}

func (h Header) findField(name string) (string, bool) {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			return h[i].Value, true
		}
	}
	return "", false
}

// All returns every value of a field.
func (h Header) All(name string) (out []string) {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			out = append(out, h[i].Value)
		}
	}
	return out
}

// MessageID returns the Message-ID, without angle brackets; "": none.
func (h Header) MessageID() string { return firstID(h.Get("Message-ID")) }

// lineCost is what a line of a header counts beside its length: a value is copied for each line that continues it.
const lineCost = 200

// splitHeader separates the header of a part from its body. Lines that are no field are ignored.
func (r *reader) splitHeader(raw []byte) (h Header, body []byte) {
	used := 0
	r.dropped = false
	for len(raw) > 0 {
		line, rest := cutLine(raw)
		if len(bytes.TrimSpace(line)) == 0 {
			return h, rest
		}
		raw = rest
		if used += len(line) + lineCost; used > maxHeader {
			r.mail.Cut = true
			continue
		}
		if isFolded(line) {
			r.continueField(h, line)
		} else {
			h = r.appendField(h, line)
		}
	}

	return h, nil
}

// appendField appends the field that a line of a header begins. A line that begins none, or one beyond a limit, is
// dropped.
func (r *reader) appendField(h Header, line []byte) Header {
	r.dropped = true
	name, value, ok := bytes.Cut(line, []byte{':'})
	name = bytes.TrimSpace(name)
	if !ok || len(name) == 0 || len(name) > 200 || bytes.ContainsAny(name, " \t") {
		return h
	}
	if len(h) >= maxFields {
		r.mail.Cut = true
		return h
	}

	if r.dropped = len(value) > maxValue; r.dropped {
		value, r.mail.Cut = value[:maxValue], true
	}

	return append(h, Field{Name: decodeLegible(name), Value: decodeLegible(bytes.TrimSpace(value))})
}

// continueField adds a line to the last field of a header. Once one is dropped, so are those behind it: the value would
// have a gap, or be another field's.
func (r *reader) continueField(h Header, line []byte) {
	if len(h) == 0 || r.dropped {
		return
	}
	last := &h[len(h)-1]
	if len(last.Value)+len(line) > maxValue {
		r.mail.Cut, r.dropped = true, true
		return
	}

	last.Value += " " + decodeLegible(bytes.TrimSpace(line))
}

// isFolded reports whether a line continues the field before it.
func isFolded(line []byte) bool { return line[0] == ' ' || line[0] == '\t' }

// cutLine returns the first line of s without its end, and what follows it.
func cutLine(s []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(s, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), rest
}

// decodeLegible returns the bytes of a header as text: UTF-8 if they are, or else in the charset in which they read
// best.
func decodeLegible(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return toUTF8(b, "")
}

// decodeWords decodes the encoded words of a value (RFC 2047). What cannot be decoded stays as it is.
func decodeWords(s string) string {
	if !strings.Contains(s, "=?") {
		return s
	}
	d := mime.WordDecoder{CharsetReader: charsetReader}
	if out, err := d.DecodeHeader(s); err == nil {
		return out
	}
	return s
}

// oneLine returns s without control characters, and each run of white space as one space.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// messageIDs returns the Message-IDs of a value, without angle brackets.
func messageIDs(s string) (out []string) {
	for len(out) < 100 {
		_, after, ok := strings.Cut(s, "<")
		if !ok {
			break
		}
		one, rest, ok := strings.Cut(after, ">")
		if !ok {
			break
		}
		if one = strings.TrimSpace(one); one != "" && len(one) <= 998 {
			out = append(out, strings.ReplaceAll(one, " ", ""))
		}
		s = rest
	}

	return out
}

// firstID returns the Message-ID of a value, also of one without angle brackets.
func firstID(s string) string {
	if all := messageIDs(s); len(all) > 0 {
		return all[0]
	}
	if s = strings.TrimSpace(s); len(s) <= 998 && !strings.ContainsAny(s, " <>\t") {
		return s
	}
	return ""
}

func parseDate(s string) time.Time {
	if s == "" || len(s) > 200 {
		return time.Time{}
	}
	at, err := mail.ParseDate(s)
	if err != nil || at.Year() < 1990 || at.Year() > 2200 {
		return time.Time{}
	}
	return at.UTC()
}
