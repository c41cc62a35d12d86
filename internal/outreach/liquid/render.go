package liquid

import (
	"strings"
)

const (
	maxSteps  = 50_000
	maxRounds = 1000
	maxOutput = 256 << 10
)

// Escape says what the output of a template is.
type Escape byte

// The kinds of output.
const (
	HTML   Escape = iota // an HTML document or fragment
	Text                 // plain text
	Header               // the value of one header
	URL                  // one URL
)

// Markup is a value that is safe HTML already.
type Markup string

// Render renders the template with values: maps, slices, text, numbers, booleans, time.Time, Markup and nil. The error
// is a *MissingError, a *ValueError, ErrFuel or ErrTooLong.
func (t *Template) Render(c Escape, values map[string]any) (string, error) {
	r := renderer{values: values, out: newWriter(c)}
	if err := r.render(t.nodes); err != nil {
		return "", err
	}
	return r.out.String(), nil
}

type renderer struct {
	values map[string]any
	locals []local
	steps  int
	out    *writer
}

// local is a variable of for.
type local struct {
	name  string
	value any
}

// spend takes n steps.
func (r *renderer) spend(n int) error {
	if r.steps += n; r.steps > maxSteps {
		return ErrFuel
	}
	return nil
}

func (r *renderer) render(nodes []node) error {
	for _, n := range nodes {
		err := r.spend(1)
		if err != nil {
			return err
		}
		switch n := n.(type) {
		case textNode:
			err = r.out.literal(string(n))
		case outputNode:
			err = r.output(n)
		case *ifNode:
			err = r.branch(n)
		case *forNode:
			err = r.loop(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *renderer) output(n outputNode) error {
	v, err := r.operand(n.operand)
	if err != nil {
		return err
	}
	missing, encoded := isMissing(v) && n.path != nil, false
	for _, f := range n.filters {
		args, rest := [2]any{}, f.args
		for i, a := range rest[:min(len(rest), 2)] {
			if args[i], err = r.operand(a); err != nil {
				return err
			}
		}
		if f.name == "default" {
			if missing || isMissing(v) || v == false {
				v, missing = args[0], f.args[0].path != nil && isMissing(args[0])
			}
			continue
		}
		if missing || v == nil {
			continue
		}
		if err = r.spend(1 + size(v)/64); err != nil {
			return err
		}
		result, msg := f.run(v, args[:len(rest)])
		if msg != "" {
			return &ValueError{Path: n.name(), Filter: f.name, Msg: msg, Line: f.at.line, Column: f.at.column}
		}
		v, encoded = result, f.name == "url_encode"
	}
	if missing {
		return &MissingError{Path: n.name(), Line: n.at.line, Column: n.at.column}
	}
	return r.out.value(v, encoded)
}

func (r *renderer) branch(n *ifNode) error {
	for _, b := range n.branches {
		holds := true
		if b.condition != nil {
			var err error
			if holds, err = r.holds(b.condition); err != nil {
				return err
			}
			holds = holds != b.negated
		}
		if holds {
			return r.render(b.body)
		}
	}
	return nil
}

// holds evaluates a condition from the right, as Liquid does: a and b or c is a and (b or c).
func (r *renderer) holds(c *condition) (bool, error) {
	result, err := r.compare(c)
	if err != nil || c.next == nil || c.join == "and" && !result || c.join == "or" && result {
		return result, err
	}
	return r.holds(c.next)
}

func (r *renderer) compare(c *condition) (bool, error) {
	left, err := r.operand(c.left)
	if err != nil {
		return false, err
	}
	if c.op == "" {
		return left != false && !isMissing(left), nil
	}
	right, err := r.operand(c.right)
	if err != nil {
		return false, err
	}
	if err = r.spend(1 + (size(left)+size(right))/64); err != nil {
		return false, err
	}
	return compare(left, c.op, right), nil
}

func (r *renderer) loop(n *forNode) error {
	v, err := r.operand(n.list)
	if err != nil {
		return err
	}
	items := elements(v)
	if offset, err := r.operand(n.offset); err != nil {
		return err
	} else if o, ok := whole(offset); ok && o > 0 {
		items = items.from(o)
	}
	if n.hasLimit {
		limit, err := r.operand(n.limit)
		if err != nil {
			return err
		}
		if l, ok := whole(limit); ok && l < int64(items.length) {
			items.length = int(max(l, 0))
		}
	}
	if items.length == 0 {
		return r.render(n.empty)
	}
	if items.length > maxRounds {
		return ErrFuel
	}
	depth := len(r.locals)
	defer func() { r.locals = r.locals[:depth] }()
	for i := range items.length {
		if err := r.spend(1); err != nil {
			return err
		}
		r.locals = append(r.locals[:depth], local{n.name, items.at(i)}, local{"forloop", loopState{i, items.length}})
		if err := r.render(n.body); err != nil {
			return err
		}
	}
	return nil
}

// loopState is the value of forloop.
type loopState struct{ index, length int }

func (l loopState) get(key string) any {
	switch key {
	case "index":
		return int64(l.index + 1)
	case "index0":
		return int64(l.index)
	case "first":
		return l.index == 0
	case "last":
		return l.index == l.length-1
	case "length":
		return int64(l.length)
	}
	return nil
}

// operand returns the value of a literal or path; nil if there is none.
func (r *renderer) operand(o operand) (any, error) {
	if err := r.spend(max(len(o.path), 1)); err != nil {
		return nil, err
	}
	if o.path == nil {
		return o.literal, nil
	}
	var v any
	found := false
	for i := len(r.locals) - 1; i >= 0 && !found; i-- {
		if r.locals[i].name == o.path[0] {
			v, found = r.locals[i].value, true
		}
	}
	if !found {
		v = r.values[o.path[0]]
	}
	for _, key := range o.path[1:] {
		if v = get(v, key); v == nil {
			return nil, nil
		}
	}
	return v, nil
}

// writer collects the output.
type writer struct {
	strings.Builder
	escape Escape
	page   page // the tokenizer's state, for HTML and URL
}

func newWriter(c Escape) *writer {
	w := &writer{escape: c}
	if c == URL {
		w.page.state = inURL
	}
	return w
}

// literal writes text of the template.
func (w *writer) literal(s string) error {
	if w.Len()+len(s) > maxOutput {
		return ErrTooLong
	}
	switch w.escape {
	case HTML, URL:
		w.page.follow(s)
	case Header:
		s = w.oneLine(s)
	case Text:
	}
	w.WriteString(s)
	return nil
}

// value writes a value; encoded says that url_encode made it.
func (w *writer) value(v any, encoded bool) error {
	s, markup := show(v)
	if w.Len()+len(s) > maxOutput {
		return ErrTooLong
	}
	switch w.escape {
	case HTML, URL:
		s = w.page.escaped(s, markup, encoded)
	case Header:
		s = w.oneLine(s)
	default:
		s = plain(s)
	}
	if w.Len()+len(s) > maxOutput {
		return ErrTooLong
	}
	w.WriteString(s)
	return nil
}
