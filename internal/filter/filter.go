package filter

import "slices"

// Type is what the values of a field are.
type Type string

// The types of fields.
const (
	Text    Type = "text"
	Key     Type = "key" // a text that is compared as it is
	Number  Type = "number"
	Boolean Type = "boolean"
	Date    Type = "date"
	Time    Type = "time"
	ID      Type = "id"
	Keys    Type = "keys" // a set of texts, compared as they are
)

// Schema is what a noun's filters may name.
type Schema interface {
	Field(name string) (Type, bool)
	// Names returns the names of the fields, for a message about one that does not exist.
	Names() []string
}

// Op is what a leaf asks of its field.
type Op string

// The ops.
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
		Keys: {Eq, Ne, In, NotIn, StartsWith, Contains, Exists}, ID: {Eq, Ne, In, NotIn, Exists}, Boolean: {Eq, Ne, Exists},
	}
)

// Bounds of a filter.
const (
	MaxDepth  = 5   // all, any and not around a leaf
	MaxLeaves = 50  //
	MaxList   = 200 // values of one in or not_in
	MaxText   = 400 // characters of one value
	// MaxTextBytes bounds a folded value, so that a column which keeps no less of each text decides on it.
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

// leaf is one question. value is a string, float64, bool, time.Time or id.ID, for in and not_in a slice of them; a Text
// is folded. sent is the same as canonical JSON shows it.
type leaf struct {
	field string
	typ   Type
	op    Op
	value any
	sent  any
}

// Fields are the fields that the filter reads, each once, in the order of their names; never nil.
func (f *Filter) Fields() []string {
	out := []string{}
	f.walk(func(l *leaf) { out = append(out, l.field) })
	slices.Sort(out)
	return slices.Compact(out)
}

// Asks tells whether a leaf of the filter has the op.
func (f *Filter) Asks(op Op) bool {
	found := false
	f.walk(func(l *leaf) { found = found || l.op == op })
	return found
}

func (f *Filter) walk(visit func(*leaf)) {
	if f.kind == isLeaf {
		visit(&f.leaf)
	}
	for _, p := range f.parts {
		p.walk(visit)
	}
}

// Conjuncts are the parts that must all hold for the filter to hold: itself, where it is no all.
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

// Term is the filter where it is one leaf: its field, op and value; a Text is folded.
func (f *Filter) Term() (field string, op Op, value any, ok bool) {
	return f.leaf.field, f.leaf.op, f.leaf.value, f.kind == isLeaf
}
