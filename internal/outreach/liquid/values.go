package liquid

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// isMissing reports whether v counts as no value: nil, or text of white space only.
func isMissing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return blank(v)
	case Markup:
		return blank(string(v))
	case time.Time:
		return v.IsZero()
	}
	return false
}

func blank(s string) bool { return strings.TrimFunc(s, unicode.IsSpace) == "" }

// size returns the bytes of text in v.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case Markup:
		return len(v)
	case []string:
		return sum(v)
	case []any:
		n := 0
		for i, item := range v {
			if n += 8 + shallow(item); i > 64*maxSteps {
				break
			}
		}
		return n
	}
	return 0
}

func sum(list []string) int {
	n := 0
	for _, s := range list {
		n += 8 + len(s)
	}
	return n
}

func shallow(v any) int {
	if s, ok := v.(string); ok {
		return len(s)
	}
	return 0
}

// get returns the part of v under key, or nil.
func get(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[key]
	case map[string]string:
		if s, ok := v[key]; ok {
			return s
		}
		return nil
	case loopState:
		return v.get(key)
	}
	list := elements(v)
	switch key {
	case "size":
		if s, ok := v.(string); ok {
			return int64(len([]rune(s)))
		}
		if list.list.IsValid() {
			return int64(list.length)
		}
		return nil
	case "first":
		return list.item(0)
	case "last":
		return list.item(list.length - 1)
	}
	i, err := strconv.Atoi(key)
	if err != nil {
		return nil
	}
	if i < 0 {
		i += list.length
	}
	return list.item(i)
}

// sequence is a part of a slice.
type sequence struct {
	list          reflect.Value
	start, length int
}

// elements returns the elements of a slice; of other values none.
func elements(v any) sequence {
	if r := reflect.ValueOf(v); r.IsValid() && r.Kind() == reflect.Slice && r.Type().Elem().Kind() != reflect.Uint8 {
		return sequence{list: r, length: r.Len()}
	}
	return sequence{}
}

func (s sequence) at(i int) any { return s.list.Index(s.start + i).Interface() }

func (s sequence) item(i int) any {
	if i < 0 || i >= s.length {
		return nil
	}
	return s.at(i)
}

func (s sequence) from(offset int64) sequence {
	skip := int(min(offset, int64(s.length)))
	return sequence{s.list, s.start + skip, s.length - skip}
}

// whole returns v as an integer.
func whole(v any) (int64, bool) {
	f, ok := number(v)
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// number returns v as a number, if its type is one.
func number(v any) (float64, bool) {
	if n, ok := v.(json.Number); ok {
		f, err := n.Float64()
		return f, err == nil
	}
	r := reflect.ValueOf(v)
	switch {
	case !r.IsValid():
		return 0, false
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	case r.CanFloat():
		return r.Float(), !math.IsNaN(r.Float())
	}
	return 0, false
}

// show returns v as text, and whether it is Markup.
func show(v any) (s string, markup bool) {
	switch v := v.(type) {
	case nil, blankValue:
		return "", false
	case string:
		return v, false
	case Markup:
		return string(v), true
	case bool:
		return strconv.FormatBool(v), false
	case json.Number:
		return v.String(), false
	case time.Time:
		return v.UTC().Format(time.RFC3339), false
	case loopState:
		return "", false
	}
	r := reflect.ValueOf(v)
	switch {
	case r.CanInt():
		return strconv.FormatInt(r.Int(), 10), false
	case r.CanUint():
		return strconv.FormatUint(r.Uint(), 10), false
	case r.CanFloat():
		return strconv.FormatFloat(r.Float(), 'f', -1, 64), false
	}
	if list := elements(v); list.list.IsValid() {
		return joined(list), false
	}
	if text, ok := v.(fmt.Stringer); ok {
		return text.String(), false
	}
	return "", false
}

// joined returns the elements that are no lists themselves with commas: a, b, c.
func joined(list sequence) string {
	var b strings.Builder
	for i := range min(list.length, maxRounds) {
		item := list.at(i)
		if elements(item).list.IsValid() {
			continue
		}
		s, _ := show(item)
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		if b.WriteString(s); b.Len() > maxOutput {
			break
		}
	}
	return b.String()
}

// compare reports whether left op right holds. A missing value equals nil, empty and blank, and is neither above nor
// below anything.
func compare(left any, op string, right any) bool {
	switch op {
	case "==":
		return equal(left, right)
	case "!=", "<>":
		return !equal(left, right)
	case "contains":
		return contains(left, right)
	}
	order, ok := compareOrder(left, right)
	if !ok {
		return false
	}
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

func equal(a, b any) bool {
	if _, ok := a.(blankValue); ok {
		a = nil
	}
	if _, ok := b.(blankValue); ok {
		if list := elements(a); list.list.IsValid() {
			return list.length == 0
		}
		b = nil
	}
	if isMissing(a) || isMissing(b) {
		return isMissing(a) && isMissing(b)
	}
	if x, ok := a.(bool); ok {
		y, ok := b.(bool)
		return ok && x == y
	}
	order, ok := compareOrder(a, b)
	return ok && order == 0
}

// compareOrder compares numbers with numbers, times with times and text with text.
func compareOrder(a, b any) (int, bool) {
	if x, ok := number(a); ok {
		y, ok := number(b)
		switch {
		case !ok:
			return 0, false
		case x < y:
			return -1, true
		case x > y:
			return 1, true
		}
		return 0, true
	}
	x, isTime := a.(time.Time)
	y, alsoTime := b.(time.Time)
	if isTime || alsoTime {
		var ok bool
		if !isTime {
			x, ok = moment(a)
		} else if ok = alsoTime; !ok {
			y, ok = moment(b)
		}
		return x.Compare(y), ok
	}
	s, ok := textOf(a)
	t, also := textOf(b)
	return strings.Compare(s, t), ok && also && !isMissing(a) && !isMissing(b)
}

func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case Markup:
		return string(v), true
	}
	return "", false
}

func contains(list, part any) bool {
	if isMissing(part) {
		return false
	}
	if s, ok := textOf(list); ok {
		p, _ := show(part)
		return strings.Contains(s, p)
	}
	items := elements(list)
	for i := range items.length {
		if equal(items.at(i), part) {
			return true
		}
	}
	return false
}
