package stripe

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"sync"
)

// Objects are rendered in three layers: the shape of their kind, which has every key of the API version with its value
// where the sandbox does not implement it; above it the object's state; above that the values that are derived from
// other objects, such as the price of an item.

//go:embed shapes.json
var shapesSource []byte

// shown is a rendered object. Values are raw JSON or marshal to JSON.
type shown map[string]any

// shapes is parsed once; its members are shared and must not be changed.
var shapes = sync.OnceValue(func() map[kind]shown {
	all := map[kind]shown{}
	d := json.NewDecoder(bytes.NewReader(shapesSource))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		panic(err) // cannot fail: embedded and tested
	}

	return all
})

// newShape returns a new copy of a kind's keys.
func newShape(k kind) shown {
	return maps.Clone(shapes()[k])
}

// copyNested returns a new copy of the object at a key of a shape, or of a part of one.
func copyNested(in shown, key string) shown {
	part, _ := in[key].(map[string]any)
	return maps.Clone(part)
}

// expansion is the tree of expand[] paths.
type expansion map[string]expansion

func parseExpand(paths []string) expansion {
	root := expansion{}
	for _, path := range paths {
		at := root
		steps := strings.Split(path, ".")
		if len(steps) > 4+1 { // paths into lists begin with data
			refuse(invalidRequest("expand", "",
				"You cannot expand more than 4 levels of a property. Property: %s", path))
		}

		for _, step := range steps {
			if at[step] == nil {
				at[step] = expansion{}
			}
			at = at[step]
		}
	}

	return root
}

// renderObject renders an object. The references in expand are replaced by the objects that they refer to.
func (tx *tx) renderObject(o object, expand expansion) shown {
	w := newShape(o.objectKind())
	setMembers(w, o)
	w["object"] = string(o.objectKind())
	w["livemode"] = false
	if _, has := shapes()[o.objectKind()]["livemode"]; !has {
		delete(w, "livemode")
	}

	o.addDerived(tx, w, expand)
	for name, below := range expand {
		tx.expandReference(w, name, below)
	}

	return w
}

// setMembers sets the JSON members of the struct v, except "_", in w. Values are not copied, so a rendering that
// outlives the unit of work, such as an event's, must be marshalled at once.
func setMembers(w shown, v any) {
	value := reflect.Indirect(reflect.ValueOf(v))
	for _, m := range membersOf(value.Type()) {
		f := value.FieldByIndex(m.index)
		if !m.omitEmpty || !f.IsZero() {
			w[m.name] = f.Interface()
		}
	}
}

// member is a struct field with its JSON name.
type member struct {
	name      string
	omitEmpty bool
	index     []int
}

// known caches the members of types.
var known sync.Map //nolint:gochecknoglobals // a cache of what the program's types are

func membersOf(t reflect.Type) []member {
	if all, ok := known.Load(t); ok {
		return all.([]member)
	}

	var all []member
	for _, f := range reflect.VisibleFields(t) {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && !strings.HasPrefix(name, "_") && f.IsExported() {
			all = append(all, member{name, option == "omitempty", f.Index})
		}
	}

	known.Store(t, all)

	return all
}

// expandReference replaces one reference. Lists and embedded objects expand their own references.
func (tx *tx) expandReference(w shown, name string, below expansion) {
	value, there := w[name]
	if !there {
		refuse(invalidRequest("expand[0]", "", "This property cannot be expanded (%s).", name))
	}

	id := ""
	switch v := value.(type) {
	case text:
		id = string(v)
	case string:
		id = v
	}

	if id == "" {
		return // null, or an embedded object
	}

	o := tx.findAny(id)
	if name == "product" { // product ids have any form
		o = findObject[product](tx, id)
	}

	if o == nil {
		refuse(invalidRequest("expand[0]", "", "This property cannot be expanded (%s).", name))
	}

	w[name] = tx.renderObject(o, below)
}

// findAny returns the object with an id of any kind, or nil if there is none or its kind cannot be shown.
func (tx *tx) findAny(id string) object {
	prefix := id[:max(strings.LastIndexByte(id, '_'), 0)]
	if read := readerFor(prefix); read != nil {
		return read(tx, id)
	}
	return nil
}

// readerFor returns the function that reads the objects with an id prefix.
func readerFor(prefix string) func(*tx, string) object {
	return map[string]func(*tx, string) object{
		"cus": findObject[customer], "prod": findObject[product], "price": findObject[price], "pm": findObject[card],
		"sub": findObject[subscription],
		"in":  findObject[invoice], "ii": findObject[invoiceItem], "pi": findObject[intent], "ch": findObject[charge],
		"sub_sched": findObject[schedule], "txn": findObject[balanceTransaction],
	}[prefix]
}

// findObject is like find, but returns an untyped nil if there is no object.
func findObject[T any, P interface {
	*T
	object
}](tx *tx, id string) object {
	if o := find[T, P](tx, id); o != nil {
		return o
	}
	return nil
}

// listResponse returns a list in the API's format.
func listResponse(url string, more bool, data []shown) shown {
	if data == nil {
		data = []shown{}
	}
	return shown{"object": "list", "url": url, "has_more": more, "data": data}
}

// text is a string that is rendered as null if it is empty.
type text string

// MarshalJSON returns null for "".
func (t text) MarshalJSON() ([]byte, error) { return nullIf(t == "", string(t)) }

// moment is a time in Unix seconds that is rendered as null if it is 0.
type moment int64

// MarshalJSON returns null for 0.
func (m moment) MarshalJSON() ([]byte, error) { return nullIf(m == 0, int64(m)) }

func nullIf(empty bool, v any) ([]byte, error) {
	if empty {
		return []byte("null"), nil
	}
	return json.Marshal(v)
}

// changedMembers returns the top-level members of before that differ in after, for an event's previous_attributes.
func changedMembers(before, after shown) map[string]any {
	diff := map[string]any{}
	for key, now := range after {
		if !reflect.DeepEqual(before[key], now) {
			diff[key] = before[key]
		}
	}

	return diff
}
