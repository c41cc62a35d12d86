package filter

import (
	"bytes"
	"encoding/json"
)

// JSON returns the canonical form: without whitespace, with members in a fixed order, and times and ids in API format.
// Parsing it gives an equal filter. Texts are as they were sent.
func (f *Filter) JSON() []byte {
	var b bytes.Buffer
	f.writeJSON(&b)
	return b.Bytes()
}

// MarshalJSON makes a Filter usable as a member of a response.
func (f *Filter) MarshalJSON() ([]byte, error) { return f.JSON(), nil }

func (f *Filter) writeJSON(b *bytes.Buffer) {
	if f.kind == isLeaf {
		b.WriteString(`{"field":`)
		writeValue(b, f.leaf.field)
		b.WriteString(`,"op":`)
		writeValue(b, string(f.leaf.op))
		b.WriteString(`,"value":`)
		writeValue(b, f.leaf.sent)
		b.WriteByte('}')
		return
	}
	for name, k := range groups {
		if k == f.kind {
			b.WriteString(`{"` + name + `":`)
		}
	}
	if f.kind == isNot {
		f.parts[0].writeJSON(b)
		b.WriteByte('}')
		return
	}
	b.WriteByte('[')
	for i, p := range f.parts {
		if i > 0 {
			b.WriteByte(',')
		}
		p.writeJSON(b)
	}
	b.WriteString("]}")
}

// writeValue writes a value that always has a JSON form: texts, finite numbers, booleans, times, ids and lists of them.
func writeValue(b *bytes.Buffer, v any) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // values parsed from JSON always encode
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
}
