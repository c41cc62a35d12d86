package filter

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Parse parses a filter over the fields of s. An invalid filter is an *Error.
func Parse(raw []byte, s Schema) (*Filter, error) {
	v, wrong := parseJSON(raw)
	if wrong != nil {
		return nil, wrong
	}
	p := parser{schema: s}
	f, wrong := p.parseFilter(v, "", 0)
	if wrong != nil {
		return nil, wrong
	}
	return f, nil
}

type parser struct {
	schema Schema
	leaves int
}

func tooDeep(path string) *Error {
	return &Error{Path: path, Code: "too_deep", Detail: "all, any and not nest at most 5 deep."}
}

func (p *parser) parseFilter(v any, path string, depth int) (*Filter, *Error) {
	o, ok := v.(object)
	if !ok {
		return nil, &Error{Path: path, Code: "invalid_type", Detail: "This is not an object."}
	}
	for _, m := range o {
		k, ok := groups[m.name]
		if !ok {
			continue
		}
		for _, other := range o {
			if other.name != m.name {
				return nil,
					&Error{
						Path: path + "/" + escapeToken(other.name), Code: "unknown_key",
						Detail: "Nothing stands beside " + m.name + ".",
					}
			}
		}
		if depth == MaxDepth {
			return nil, tooDeep(path)
		}
		return p.parseGroup(k, m.value, path+"/"+m.name, depth+1)
	}
	return p.parseLeaf(o, path)
}

func (p *parser) parseGroup(k kind, v any, path string, depth int) (*Filter, *Error) {
	f := &Filter{kind: k}
	if k == isNot {
		part, wrong := p.parseFilter(v, path, depth)
		f.parts = []*Filter{part}
		return f, wrong
	}
	list, ok := v.([]any)
	if !ok {
		return nil, &Error{Path: path, Code: "invalid_type", Detail: "This is not an array."}
	}
	if len(list) > MaxLeaves {
		return nil, tooMany(path)
	}
	for i, v := range list {
		part, wrong := p.parseFilter(v, path+"/"+strconv.Itoa(i), depth)
		if wrong != nil {
			return nil, wrong
		}
		f.parts = append(f.parts, part)
	}
	return f, nil
}

func tooMany(path string) *Error {
	return &Error{Path: path, Code: "too_many", Detail: "A filter has at most 50 conditions."}
}

func (p *parser) parseLeaf(o object, path string) (*Filter, *Error) {
	if p.leaves++; p.leaves > MaxLeaves {
		return nil, tooMany(path)
	}
	var (
		l        leaf
		given    = map[string]any{}
		textual  = map[string]string{}
		wantText = func(name string) *Error {
			v, ok := given[name]
			if !ok {
				return &Error{
					Path: path, Code: "required",
					Detail: "A condition has " + name + "; a group is one of all, any and not.",
				}
			}
			if textual[name], ok = v.(string); !ok {
				return &Error{Path: path + "/" + name, Code: "invalid_type", Detail: "This is not a string."}
			}
			return nil
		}
	)
	for _, m := range o {
		if !slices.Contains([]string{"field", "op", "value"}, m.name) {
			return nil,
				&Error{
					Path: path + "/" + escapeToken(m.name), Code: "unknown_key",
					Detail: "A condition has field, op and value; a group is one of all, any and not.",
				}
		}
		given[m.name] = m.value
	}
	for _, name := range []string{"field", "op"} {
		if wrong := wantText(name); wrong != nil {
			return nil, wrong
		}
	}
	l.field, l.op = textual["field"], Op(textual["op"])
	var ok bool
	if l.typ, ok = p.schema.Field(l.field); !ok {
		return nil,
			&Error{
				Path: path + "/field", Code: "unknown_field",
				Detail: fault.Choices("There is no such field.", l.field, p.schema.Names()),
			}
	}
	if !slices.Contains(opsOf[l.typ], l.op) {
		return nil,
			&Error{
				Path: path + "/op", Code: "unknown_op",
				Detail: "For this field op is one of " + opsNamed(l.typ) + ".",
			}
	}
	v, ok := given["value"]
	if !ok {
		return nil, &Error{Path: path, Code: "required", Detail: "A condition has a value."}
	}
	var wrong *Error
	l.value, l.sent, wrong = l.readValue(v, path+"/value")
	return &Filter{leaf: l}, wrong
}

func opsNamed(t Type) string {
	names := make([]string, len(opsOf[t]))
	for i, op := range opsOf[t] {
		names[i] = string(op)
	}
	return strings.Join(names, ", ")
}

// readValue returns the leaf's value in comparison form and in canonical JSON form.
func (l *leaf) readValue(v any, path string) (value, sent any, wrong *Error) {
	switch l.op {
	case Exists:
		b, ok := v.(bool)
		if !ok {
			return nil, nil, &Error{Path: path, Code: "invalid_type", Detail: "This is not true or false."}
		}
		return b, b, nil
	case In, NotIn:
		list, ok := v.([]any)
		switch {
		case !ok:
			return nil, nil, &Error{Path: path, Code: "invalid_type", Detail: "This is not an array."}
		case len(list) == 0:
			return nil, nil, &Error{Path: path, Code: "required", Detail: "At least one value is needed."}
		case len(list) > MaxList:
			return nil, nil, &Error{Path: path, Code: "too_many", Detail: "At most 200 values are allowed."}
		}
		switch l.typ {
		case Number:
			return readAll[float64](l.typ, list, path)
		case Time:
			return readAll[time.Time](l.typ, list, path)
		case ID:
			return readAll[id.ID](l.typ, list, path)
		default:
			return readAll[string](l.typ, list, path)
		}
	default:
		value, sent, wrong = readOne(l.typ, v, path)
		if part, ok := sent.(string); ok && (l.op == StartsWith || l.op == Contains) {
			if part == "" {
				return nil, nil, &Error{Path: path, Code: "required", Detail: "At least one character is needed."}
			}
			value = l.foldPart(part)
		}
		return value, sent, wrong
	}
}

// foldPart returns the form of the value of starts_with and contains.
func (l *leaf) foldPart(sent string) string {
	part := compare.Text(sent)
	if l.typ == Address {
		part = compare.AddressPart(sent)
	}
	if part == "" && strings.TrimSpace(sent) == "" {
		return " " // the blank between two words
	}
	return part
}

func readAll[T any](t Type, list []any, path string) (any, any, *Error) {
	values, sent := make([]T, len(list)), make([]any, len(list))
	for i, v := range list {
		one, as, wrong := readOne(t, v, path+"/"+strconv.Itoa(i))
		if wrong != nil {
			return nil, nil, wrong
		}
		values[i], _ = one.(T) // readOne returns the type of the field
		sent[i] = as
	}
	return values, sent, nil
}

func readOne(t Type, v any, path string) (value, sent any, wrong *Error) {
	switch t {
	case Number:
		n, ok := v.(json.Number)
		if !ok {
			return nil, nil, &Error{Path: path, Code: "invalid_type", Detail: "This is not a number."}
		}
		x, err := n.Float64()
		if err != nil || math.IsInf(x, 0) {
			return nil, nil, &Error{Path: path, Code: "invalid_value", Detail: "This number is too large."}
		}
		return x, x, nil
	case Boolean:
		b, ok := v.(bool)
		if !ok {
			return nil, nil, &Error{Path: path, Code: "invalid_type", Detail: "This is not true or false."}
		}
		return b, b, nil
	default: // other types are strings
	}
	s, ok := v.(string)
	if !ok {
		return nil, nil, &Error{Path: path, Code: "invalid_type", Detail: "This is not a string."}
	}
	switch t {
	case Date:
		if _, err := time.Parse(time.DateOnly, s); err != nil || len(s) != len(time.DateOnly) {
			return nil, nil, &Error{Path: path, Code: "invalid_value", Detail: "This is not a date as YYYY-MM-DD."}
		}
		return s, s, nil
	case Time:
		var at wire.Time
		if err := at.UnmarshalText([]byte(s)); err != nil || at.Year() < 0 || at.Year() > 9999 {
			return nil, nil, &Error{Path: path, Code: "invalid_value", Detail: "This is not an RFC 3339 time."}
		}
		return at.Time, at, nil
	case ID:
		i, err := id.Parse(s)
		if err != nil {
			return nil, nil, &Error{Path: path, Code: "invalid_value", Detail: "This is not a UUID."}
		}
		return i, i, nil
	case Address:
		value = compare.Address(s)
	default:
		value = compare.Text(s)
	}
	if folded, _ := value.(string); utf8.RuneCountInString(s) > MaxText || len(folded) > MaxTextBytes {
		return nil, nil, &Error{Path: path, Code: "too_long", Detail: "At most 400 characters are allowed."}
	}
	return value, s, nil
}
