package filter

import (
	"bytes"
	"encoding/json"
)

// JSON is the canonical form: without blanks, members in one order, times and ids in the form of the API. Parsed again
// it is an equal filter; its texts are as they were sent.
func (f *Filter) JSON() []byte {
	var b bytes.Buffer
	f.write(&b)
	return b.Bytes()
}

// MarshalJSON makes a Filter a member of an answer.
func (f *Filter) MarshalJSON() ([]byte, error) { return f.JSON(), nil }

func (f *Filter) write(b *bytes.Buffer) {
	if f.kind == isLeaf {
		b.WriteString(`{"field":`)
		put(b, f.leaf.field)
		b.WriteString(`,"op":`)
		put(b, string(f.leaf.op))
		b.WriteString(`,"value":`)
		put(b, f.leaf.sent)
		b.WriteByte('}')
		return
	}
	for name, k := range groups {
		if k == f.kind {
			b.WriteString(`{"` + name + `":`)
		}
	}
	if f.kind == isNot {
		f.parts[0].write(b)
		b.WriteByte('}')
		return
	}
	b.WriteByte('[')
	for i, p := range f.parts {
		if i > 0 {
			b.WriteByte(',')
		}
		p.write(b)
	}
	b.WriteString("]}")
}

// put writes what is always JSON: texts, finite numbers, booleans, times, ids and lists of them.
func put(b *bytes.Buffer, v any) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // what was read from JSON is writable as JSON
	}
	b.Truncate(b.Len() - 1) // the encoder's line end
}
