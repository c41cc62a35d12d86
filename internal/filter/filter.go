package filter

import "slices"

// Type is the type of a field's values.
type Type string

// Types of fields.
const (
	Text    Type = "text"
	Key     Type = "key" // a text that is compared unchanged
	Number  Type = "number"
	Boolean Type = "boolean"
	Date    Type = "date"
	Time    Type = "time"
	ID      Type = "id"
	Keys    Type = "keys" // a set of texts that are compared unchanged
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
		Text: texts, Key: texts, Number: ordered, Date: ordered, Time: ordered,
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
// Text is folded. sent is the same value as canonical JSON shows it.
type leaf struct {
	field string
	typ   Type
	op    Op
	value any
	sent  any
}

// Leaf returns the filter of one condition that was not parsed. value is a string, float64, bool, time.Time or id.ID,
// or a slice of them for in and not_in; a Text is folded.
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

// Term returns the field, op and value of a filter that is one leaf. A Text is folded.
func (f *Filter) Term() (field string, op Op, value any, ok bool) {
	return f.leaf.field, f.leaf.op, f.leaf.value, f.kind == isLeaf
}
