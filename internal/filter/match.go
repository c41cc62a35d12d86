package filter

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/id"
)

// Record is one row in memory. A value is nil if it is missing. Otherwise its Go type follows from the field's type:
// string, float64, bool, time.Time, id.ID, or []string for Keys; a Date is a string.
type Record interface {
	Value(field string) any
}

// Match reports whether the filter matches r. The result equals that of SQL on the stored row.
func (f *Filter) Match(r Record) bool {
	switch f.kind {
	case isAll:
		return !slices.ContainsFunc(f.parts, func(p *Filter) bool { return !p.Match(r) })
	case isAny:
		return slices.ContainsFunc(f.parts, func(p *Filter) bool { return p.Match(r) })
	case isNot:
		return !f.parts[0].Match(r)
	default:
		return f.leaf.match(r.Value(f.leaf.field))
	}
}

func (l *leaf) match(v any) bool {
	switch l.op {
	case Ne:
		return !l.isSatisfied(Eq, v)
	case NotIn:
		return !l.isSatisfied(In, v)
	default:
		return l.isSatisfied(l.op, v)
	}
}

// isSatisfied reports whether v satisfies op. For a missing value only exists can be satisfied.
func (l *leaf) isSatisfied(op Op, v any) bool {
	if all, ok := v.([]string); ok {
		if op == Exists {
			return (len(all) > 0) == l.value
		}
		return slices.ContainsFunc(all, func(s string) bool { return l.holdsText(op, s) })
	}
	if op == Exists {
		return (v != nil) == l.value
	}
	switch x := v.(type) {
	case string:
		return l.holdsText(op, x)
	case float64:
		return satisfies(op, x, l.value, cmp.Compare[float64])
	case time.Time:
		return satisfies(op, x.Truncate(time.Microsecond), l.value, time.Time.Compare)
	case id.ID:
		return satisfies(op, x, l.value, func(a, b id.ID) int { return slices.Compare(a[:], b[:]) })
	case bool:
		return op == Eq && x == l.value
	default:
		return false
	}
}

// holdsText reports whether the stored text x satisfies op.
func (l *leaf) holdsText(op Op, x string) bool {
	switch l.typ {
	case Address:
		x = compare.Address(x)
	case Date:
	case Key, Keys:
		if slices.Contains(l.stored, x) {
			return true
		}
		x = compare.Text(x)
	default:
		x = compare.Text(x)
	}
	return textHolds(op, x, l.value)
}

func textHolds(op Op, x string, value any) bool {
	if s, ok := value.(string); ok && op == StartsWith {
		return strings.HasPrefix(x, s)
	} else if ok && op == Contains {
		return strings.Contains(x, s)
	}
	return satisfies(op, x, value, strings.Compare)
}

func satisfies[T any](op Op, x T, value any, compare func(a, b T) int) bool {
	if op == In {
		list, _ := value.([]T)
		return slices.ContainsFunc(list, func(v T) bool { return compare(x, v) == 0 })
	}
	v, ok := value.(T)
	if !ok {
		return false
	}
	c := compare(x, v)
	switch op {
	case Eq:
		return c == 0
	case Gt:
		return c > 0
	case Gte:
		return c >= 0
	case Lt:
		return c < 0
	case Lte:
		return c <= 0
	default:
		return false
	}
}
