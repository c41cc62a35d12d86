package compose

import (
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

const (
	maxRules = 1000
	// maxMatches bounds the steps of inlining: elements times the simple selectors of a rule. A mail whose styles need
	// more keeps the remaining rules in its head.
	maxMatches = 400_000
)

// applied is a declaration that applies to an element.
type applied struct {
	declaration
	specificity cascadia.Specificity
	inline      bool
}

// inliner moves rules to style attributes.
type inliner struct {
	elements []*html.Node
	applied  map[*html.Node][]applied
	steps    int
	kept     []rule // rules that a style attribute cannot express
}

// inline applies sheet to the elements of root, and returns the rules that must stay in a style element.
func inline(root *html.Node, sheet []rule) []rule {
	in := &inliner{applied: map[*html.Node][]applied{}}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		in.elements = append(in.elements, n)
		for _, d := range declarations(attribute(n, "style")) {
			in.applied[n] = append(in.applied[n], applied{declaration: d, inline: true})
		}
	}
	for _, r := range sheet {
		in.rule(r)
	}
	for _, n := range in.elements {
		setStyle(n, in.applied[n])
	}
	return in.kept
}

func (in *inliner) rule(r rule) {
	if r.media != "" {
		in.kept = append(in.kept, r)
		return
	}
	kept := r
	kept.selectors = nil
	for _, s := range r.selectors {
		selector, err := cascadia.Parse(s)
		cost := len(in.elements) * (1 + strings.Count(s, " ")*8)
		if err != nil || selector.PseudoElement() != "" || isCostly(s) || in.steps+cost > maxMatches {
			kept.selectors = append(kept.selectors, s) // :hover and its like
			continue
		}
		in.steps += cost
		for _, n := range in.elements {
			if !selector.Match(n) {
				continue
			}
			for _, d := range r.declarations {
				in.applied[n] = append(in.applied[n], applied{declaration: d, specificity: selector.Specificity()})
			}
		}
	}
	if len(kept.selectors) > 0 {
		in.kept = append(in.kept, kept)
	}
}

// isCostly reports whether the selector s looks at more than an element and its ancestors.
func isCostly(s string) bool {
	return strings.Contains(s, "(") || strings.Contains(s, "~") || strings.Contains(s, ":")
}

// setStyle writes list as the style attribute of n, in the order of the cascade, each property once.
func setStyle(n *html.Node, list []applied) {
	slices.SortStableFunc(list, func(a, b applied) int {
		switch {
		case a.important != b.important:
			return lessFirst(b.important)
		case a.inline != b.inline:
			return lessFirst(b.inline)
		case a.specificity.Less(b.specificity):
			return -1
		case b.specificity.Less(a.specificity):
			return 1
		}
		return 0
	})
	var last []declaration
	for i, a := range list {
		later := func(b applied) bool { return b.name == a.name }
		if !slices.ContainsFunc(list[i+1:], later) {
			last = append(last, a.declaration)
		}
	}
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "style" })
	if len(last) > 0 {
		n.Attr = append(n.Attr, html.Attribute{Key: "style", Val: joined(last)})
	}
}

// lessFirst returns the order of a before b where b, but not a, has a property that sorts last.
func lessFirst(bHas bool) int {
	if bHas {
		return -1
	}
	return 1
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}
