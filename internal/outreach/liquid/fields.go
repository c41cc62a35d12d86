package liquid

import (
	"slices"
	"strings"
)

// A Field is one use of a path in a template.
type Field struct {
	Path string // contact.first_name
	// HasDefault says that the template does without a value here: the output has a default, stands below an if that
	// asks for the path, or the path is in a condition or a for.
	HasDefault bool
	// Output says that the value is written, rather than used by a tag or as an argument.
	Output       bool
	Line, Column int
}

// Fields returns the paths that the template reads, in the order of the source. Variables of for are left out.
func (t *Template) Fields() []Field {
	var w fieldWalk
	w.nodes(t.nodes)
	return w.fields
}

type fieldWalk struct {
	fields []Field
	locals []string
	asked  []string // paths that the conditions around the node ask for
}

func (w *fieldWalk) nodes(nodes []node) {
	for _, n := range nodes {
		switch n := n.(type) {
		case outputNode:
			w.output(n)
		case *ifNode:
			w.conditional(n)
		case *forNode:
			w.add(n.list, true, false)
			w.add(n.limit, true, false)
			w.add(n.offset, true, false)
			depth := len(w.locals)
			w.locals = append(w.locals, n.name, "forloop")
			w.nodes(n.body)
			w.locals = w.locals[:depth]
			w.nodes(n.empty)
		}
	}
}

func (w *fieldWalk) output(n outputNode) {
	has := slices.Contains(w.asked, n.name())
	for _, f := range n.filters {
		has = has || f.name == "default" && f.args[0].path == nil
	}
	w.add(n.operand, has, true)
	for _, f := range n.filters {
		for _, a := range f.args {
			w.add(a, slices.Contains(w.asked, a.name()), f.name == "default")
		}
	}
}

func (w *fieldWalk) conditional(n *ifNode) {
	start := len(w.asked)
	for _, b := range n.branches {
		for c := b.condition; c != nil; c = c.next {
			w.add(c.left, true, false)
			w.add(c.right, true, false)
		}
		before := len(w.asked)
		if !b.negated {
			w.asked = append(w.asked, asks(b.condition)...)
		}
		w.nodes(b.body)
		w.asked = w.asked[:before]
		if b.negated {
			w.asked = append(w.asked, asks(b.condition)...) // the branches behind unless
		}
	}
	w.asked = w.asked[:start]
}

// asks returns the paths that have a value wherever c holds.
func asks(c *condition) []string {
	if c == nil || c.join == "or" {
		return nil
	}
	paths := asks(c.next)
	switch {
	case c.left.path == nil:
	case c.op == "", c.op == "contains", c.op[0] == '<' && c.op != "<>", c.op[0] == '>',
		c.op == "==" && c.right.path == nil && !isMissing(c.right.literal) && c.right.literal != any(blankValue{}),
		(c.op == "!=" || c.op == "<>") && c.right.path == nil &&
			(isMissing(c.right.literal) || c.right.literal == any(blankValue{})):
		paths = append(paths, c.left.name())
	}
	return paths
}

func (w *fieldWalk) add(o operand, hasDefault, output bool) {
	if o.path == nil || slices.Contains(w.locals, o.path[0]) {
		return
	}
	w.fields = append(w.fields, Field{
		Path: strings.Join(o.path, "."), HasDefault: hasDefault, Output: output, Line: o.at.line, Column: o.at.column,
	})
}
