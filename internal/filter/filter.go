package filter

import "slices"

// Type is the type of a field's values.
type Type string

// Types of fields.
const (
	Text    Type = "text"
	Address Type = "address" // a Text that holds an email address
	Key     Type = "key"     // a Text of a list of names, see Filter.Resolve
	Number  Type = "number"
	Boolean Type = "boolean"
	Date    Type = "date"
	Time    Type = "time"
	ID      Type = "id"
	Keys    Type = "keys" // a set of Keys
)

// Schema describes the fields that filters of a domain package may name.
type Schema interface {
	Field(name string) (Type, bool)
	// Names returns the names of the fields, for a message about one that does not exist.
	Names() []string
}

// Op is the operator of a leaf.
type Op string

// Operators.
const (
	Eq         Op = "eq"
	Ne         Op = "ne"
	In         Op = "in"
	NotIn      Op = "not_in"
	Gt         Op = "gt"
	Gte        Op = "gte"
	Lt         Op = "lt"
	Lte        Op = "lte"
	StartsWith Op = "starts_with"
	Contains   Op = "contains"
	Exists     Op = "exists"
)

var (
	ordered = []Op{Eq, Ne, In, NotIn, Gt, Gte, Lt, Lte, Exists}
	texts   = append(slices.Clone(ordered), StartsWith, Contains)
	opsOf   = map[Type][]Op{
		Text: texts, Address: texts, Key: texts, Number: ordered, Date: ordered, Time: ordered,
		Keys: {Eq, Ne, In, NotIn, StartsWith, Contains, Exists}, ID: {Eq, Ne, In, NotIn, Exists},
		Boolean: {Eq, Ne, Exists},
	}
)

// Ops returns the operators that a field of type t takes.
func (t Type) Ops() []Op { return slices.Clone(opsOf[t]) }

// Limits of a filter.
const (
	MaxDepth  = 5   // nesting of all, any and not around a leaf
	MaxLeaves = 50  //
	MaxList   = 200 // values in one in or not_in
	MaxText   = 400 // characters per value
	// MaxTextBytes limits a folded value, so that a column that stores at least this many bytes of each text is
	// sufficient.
	MaxTextBytes = 1600
	maxBytes     = 64 << 10
)

// Filter is a parsed filter. It is immutable and safe for concurrent use.
type Filter struct {
	kind  kind
	parts []*Filter
	leaf  leaf
}

type kind int

const (
	isLeaf kind = iota
	isAll
	isAny
	isNot
)

var groups = map[string]kind{"all": isAll, "any": isAny, "not": isNot}

// leaf is one condition. value is a string, float64, bool, time.Time or id.ID, or a slice of them for in and not_in; a
// text is folded. sent is the same value as canonical JSON shows it. stored holds, for a Key or Keys that was resolved,
// the stored names that the op selects; nil otherwise.
type leaf struct {
	field  string
	typ    Type
	op     Op
	value  any
	sent   any
	stored []string
}

// Leaf returns the filter of one condition that was not parsed. value is a string, float64, bool, time.Time or id.ID,
// or a slice of them for in and not_in; a Text is folded, and a Key is as it is stored.
func Leaf(field string, t Type, op Op, value any) *Filter {
	return &Filter{leaf: leaf{field: field, typ: t, op: op, value: value, sent: value}}
}

// Fields returns the fields that the filter reads, sorted by name, without duplicates; never nil.
func (f *Filter) Fields() []string {
	out := []string{}
	f.visitLeaves(func(l *leaf) { out = append(out, l.field) })
	slices.Sort(out)
	return slices.Compact(out)
}

// Leaves returns the number of single conditions in the filter.
func (f *Filter) Leaves() (n int) {
	f.visitLeaves(func(*leaf) { n++ })
	return n
}

// Asks reports whether a leaf of the filter has the op.
func (f *Filter) Asks(op Op) bool {
	found := false
	f.visitLeaves(func(l *leaf) { found = found || l.op == op })
	return found
}

func (f *Filter) visitLeaves(visit func(*leaf)) {
	if f.kind == isLeaf {
		visit(&f.leaf)
	}
	for _, p := range f.parts {
		p.visitLeaves(visit)
	}
}

// Conjuncts returns the parts that must all match for the filter to match. For a filter that is not an all, that is the
// filter itself.
func (f *Filter) Conjuncts() []*Filter {
	if f.kind != isAll {
		return []*Filter{f}
	}
	out := make([]*Filter, 0, len(f.parts))
	for _, p := range f.parts {
		out = append(out, p.Conjuncts()...)
	}
	return out
}

// Term returns the field, op and value of a filter that is one leaf. A Text is folded. A Key that was resolved is as it
// is stored; eq becomes in if several stored names are meant, or none.
func (f *Filter) Term() (field string, op Op, value any, ok bool) {
	l := &f.leaf
	switch {
	case l.stored == nil || l.op != Eq && l.op != In:
		return l.field, l.op, l.value, f.kind == isLeaf
	case l.op == Eq && len(l.stored) == 1:
		return l.field, Eq, l.stored[0], f.kind == isLeaf
	}
	return l.field, In, l.stored, f.kind == isLeaf
}

// Resolve looks up the stored names of the conditions on a Key or Keys. names returns those of a field that holds
// selects by their folded form. It must be called before the filter is used, and by one goroutine.
func (f *Filter) Resolve(names func(field string, holds func(folded string) bool) []string) {
	f.visitLeaves(func(l *leaf) {
		if l.typ != Key && l.typ != Keys || l.op == Exists {
			return
		}
		op := l.op
		if op == Ne {
			op = Eq
		}
		if op == NotIn {
			op = In
		}
		l.stored = names(l.field, func(folded string) bool { return textHolds(op, folded, l.value) })
		if sent, ok := l.sent.(string); ok && op == Eq {
			l.stored = append(l.stored, sent) // a name that is not listed yet
		} else if all, ok := l.sent.([]any); ok {
			for _, v := range all {
				if sent, ok := v.(string); ok {
					l.stored = append(l.stored, sent)
				}
			}
		}
		slices.Sort(l.stored)
		l.stored = slices.Compact(l.stored)
	})
}

// Names returns the values of the conditions on a field of type Key or Keys that name what they mean: those of eq, ne,
// in and not_in, as they were sent. whole reports whether these are all conditions on the field but exists.
func (f *Filter) Names(field string) (names []string, whole bool) {
	out := []string{}
	whole = true
	f.visitLeaves(func(l *leaf) {
		switch l.op {
		case Eq, Ne, In, NotIn, Exists:
		default:
			whole = whole && l.field != field
		}
		switch sent := l.sent.(type) {
		case string:
			if l.field == field && (l.op == Eq || l.op == Ne) {
				out = append(out, sent)
			}
		case []any:
			for _, v := range sent {
				if s, ok := v.(string); ok && l.field == field {
					out = append(out, s)
				}
			}
		}
	})
	return out, whole
}

// HasNames reports whether the filter has a condition on a Key or Keys, which Resolve resolves.
func (f *Filter) HasNames() bool {
	found := false
	f.visitLeaves(func(l *leaf) { found = found || (l.typ == Key || l.typ == Keys) && l.op != Exists })
	return found
}
