package stripe

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// params are a request's parameters as a tree: items[0][price]=p is list("items")[0].text("price"). Parameters that the
// handler has not read are refused at its end as unknown, so nothing is silently ignored.
type params struct {
	name  string // the full name, such as items[0][price]
	value string
	set   bool // has a value itself
	kids  map[string]*params
	used  bool
}

// maxParams limits the parameters of a request; our billing never sends more.
const maxParams = 2000

// parseParams parses form-encoded pairs. List elements are ordered by index; those written [] keep their order.
func parseParams(pairs url.Values) *params {
	root := &params{}
	n := 0
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		for i, value := range pairs[key] {
			n++
			if n > maxParams {
				refuse(invalidRequest("", "", "Too many parameters."))
			}

			at := root
			for _, step := range splitKey(key) {
				if step == "" {
					step = strconv.Itoa(i)
				}
				at = at.childAt(step)
			}

			at.value = value
			at.set = true
		}
	}

	return root
}

// splitKey splits a[b][c] into a, b and c.
func splitKey(key string) []string {
	head, rest, nested := strings.Cut(key, "[")
	if !nested || !strings.HasSuffix(rest, "]") {
		return []string{key}
	}
	return append([]string{head}, strings.Split(strings.TrimSuffix(rest, "]"), "][")...)
}

func (p *params) childAt(step string) *params {
	if p.kids == nil {
		p.kids = map[string]*params{}
	}

	k := p.kids[step]
	if k == nil {
		k = &params{name: step}
		if p.name != "" {
			k.name = p.name + "[" + step + "]"
		}
		p.kids[step] = k
	}

	return k
}

// has reports whether a parameter was sent, with or without members.
func (p *params) has(name string) bool { return p.kids[name] != nil }

// group returns a group of parameters; it is never nil.
func (p *params) group(name string) *params {
	if k := p.kids[name]; k != nil {
		k.used = true
		return k
	}
	return &params{name: name}
}

// optionalText returns a text parameter, and whether it was sent.
func (p *params) optionalText(name string) (string, bool) {
	k := p.kids[name]
	if k == nil || !k.set {
		return "", false
	}
	k.used = true
	return k.value, true
}

func (p *params) text(name string) string {
	s, _ := p.optionalText(name)
	return s
}

// requiredText returns a required text parameter.
func (p *params) requiredText(name string) string {
	s, ok := p.optionalText(name)
	if !ok || s == "" {
		full := (&params{name: p.name}).childAt(name).name
		refuse(invalidRequest(full, "parameter_missing", "Missing required param: %s.", full))
	}
	return s
}

// enumValue returns a parameter with one of the given values, or "".
func (p *params) enumValue(name string, of ...string) string {
	s, ok := p.optionalText(name)
	if ok && s != "" && !slices.Contains(of, s) {
		full := p.kids[name].name
		refuse(invalidRequest(full, "", "Invalid %s: must be one of %s", full,
			strings.Join(of, ", ")))
	}
	return s
}

func (p *params) number(name string) (int64, bool) {
	s, ok := p.optionalText(name)
	if !ok || s == "" {
		return 0, false
	}

	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		refuse(invalidRequest(p.kids[name].name, "parameter_invalid_integer", "Invalid integer: %s",
			s))
	}

	return n, true
}

func (p *params) isTrue(name string) bool {
	switch s, _ := p.optionalText(name); s {
	case "true":
		return true
	case "", "false":
		return false
	default:
		refuse(invalidRequest(p.kids[name].name, "", "Invalid boolean: %s", s))
		return false
	}
}

// list returns the elements of an array, in order.
func (p *params) list(name string) []*params {
	k := p.kids[name]
	if k == nil {
		return nil
	}

	k.used = true
	keys := slices.Collect(maps.Keys(k.kids))
	slices.SortFunc(keys, func(a, b string) int {
		x, errX := strconv.Atoi(a)
		y, errY := strconv.Atoi(b)
		if errX != nil || errY != nil {
			refuse(invalidRequest(k.name, "", "Invalid array: %s", k.name))
		}
		return x - y
	})
	all := make([]*params, 0, len(keys))
	for _, key := range keys {
		k.kids[key].used = true
		all = append(all, k.kids[key])
	}

	return all
}

// texts returns an array of plain values.
func (p *params) texts(name string) []string {
	var all []string
	for _, e := range p.list(name) {
		all = append(all, e.value)
	}
	return all
}

// metadata merges the sent metadata into m: the value "" deletes a key, and metadata= deletes all.
func (p *params) metadata(m map[string]string) map[string]string {
	k := p.kids["metadata"]
	if m == nil {
		m = map[string]string{}
	}

	if k == nil {
		return m
	}

	k.used = true
	if k.set && k.value == "" {
		return map[string]string{}
	}

	m = maps.Clone(m)
	for key, v := range k.kids {
		v.used = true
		m[key] = v.value
		if v.value == "" {
			delete(m, key)
		}

		if len(key) > 40 || len(v.value) > 500 {
			refuse(invalidRequest(v.name, "",
				"Metadata keys have up to 40 characters and values up to 500."))
		}
	}

	if len(m) > 50 {
		refuse(invalidRequest("metadata", "", "Metadata can have up to 50 keys."))
	}

	return m
}

// refuseUnused refuses parameters that were not read.
func (p *params) refuseUnused() {
	if name := p.firstUnused(); name != "" {
		refuse(invalidRequest(name, "parameter_unknown", "Received unknown parameter: %s", name))
	}
}

func (p *params) firstUnused() string {
	if p.set && !p.used {
		return p.name
	}

	for _, key := range slices.Sorted(maps.Keys(p.kids)) {
		if name := p.kids[key].firstUnused(); name != "" {
			return name
		}
	}

	return ""
}

// parseHundredths parses a decimal with up to two places, such as a percentage, without a float.
func (p *params) parseHundredths(name string) (int64, bool) {
	s, ok := p.optionalText(name)
	if !ok || s == "" {
		return 0, false
	}

	whole, places, _ := strings.Cut(s, ".")
	places = strings.TrimRight(places, "0")
	n, err := strconv.ParseInt(whole+(places + "00")[:2], 10, 64)
	if err != nil || len(places) > 2 || n < 0 {
		refuse(invalidRequest(p.kids[name].name, "", "Invalid decimal: %s", s))
	}

	return n, true
}

// formatDecimal formats hundredths: 1250 is 12.5.
func formatDecimal(hundredths int64) string {
	s := fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
