package branding

import "strings"

// The allow list for SVG. An SVG element that is not on it is rejected; an attribute that is not on it is dropped.

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

var (
	elements = wordSet(
		`svg g defs symbol use path rect circle ellipse line polyline polygon linearGradient radialGradient stop
		clipPath mask pattern marker text tspan title desc style`)
	// textual elements contain text; in other elements, text is only white space.
	textual = wordSet(`text tspan title desc style`)
	// referring elements may refer to another part of the image.
	referring = wordSet(`use linearGradient radialGradient pattern`)
	// attributes have values of numbers, words and lists of them.
	attributes = wordSet(
		`viewBox preserveAspectRatio width height x y x1 y1 x2 y2 cx cy r rx ry fx fy fr d points dx dy rotate
		transform gradientTransform patternTransform gradientUnits spreadMethod offset clipPathUnits maskUnits
		maskContentUnits patternUnits patternContentUnits markerWidth markerHeight markerUnits refX refY orient
		textLength lengthAdjust pathLength version`)
	// properties are CSS properties, as attributes and in styles; cleanValue checks their values.
	properties = wordSet(
		`fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin
		stroke-miterlimit stroke-dasharray stroke-dashoffset opacity color stop-color stop-opacity clip-path
		clip-rule mask marker-start marker-mid marker-end display visibility overflow paint-order shape-rendering
		text-rendering vector-effect transform-origin mix-blend-mode isolation font-family font-size font-style
		font-weight font-variant font-stretch letter-spacing word-spacing text-anchor text-decoration
		dominant-baseline alignment-baseline baseline-shift`)
	// harmless are w3.org namespaces that contain metadata and nothing drawn.
	harmless = map[string]bool{"http://www.w3.org/1999/02/22-rdf-syntax-ns#": true}
)

// cleanStyle accepts only plain rules in a style sheet: selectors of names, classes and ids, and declarations as above.
func (e *element) cleanStyle() error {
	var whole strings.Builder
	for _, c := range e.children {
		whole.WriteString(c.text) // an element in a style has no text and is dropped
	}

	e.children = nil
	text, err := withoutComments(whole.String())
	if err != nil {
		return err
	}

	if strings.ContainsAny(text, "@\\<") {
		return unsafeSVG("style sheets with @rules or escapes")
	}

	var out strings.Builder
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		selector, body, opened := strings.Cut(rest, "{")
		declarations, after, closed := strings.Cut(body, "}")
		if !opened || !closed || !plainSelector(selector) {
			return unsafeSVG("a style sheet of more than plain rules")
		}

		clean, refers, err := cleanDeclarations(declarations)
		if err != nil {
			return err
		}

		e.refers = append(e.refers, refers...)
		out.WriteString(strings.Join(strings.Fields(selector), " ") + "{" + clean + "}")
		rest = after
	}

	if out.Len() > 0 {
		e.children = []*element{{text: out.String()}}
	}

	return nil
}

// plainSelector reports whether s consists of names, classes, ids, commas and spaces.
func plainSelector(s string) bool {
	return strings.TrimSpace(s) != "" && len(s) <= 4096 && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune(" \t\r\n,.#*_->", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') &&
			(r < 'A' || r > 'Z')
	})
}

// cleanDeclarations keeps the known properties and returns the ids that they refer to.
func cleanDeclarations(text string) (clean string, refers []string, err error) {
	text, err = withoutComments(text)
	if err != nil {
		return "", nil, err
	}

	var out []string
	for one := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(one, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		v, to, err := cleanValue(value)
		if err != nil {
			return "", nil, err
		}

		if ok && properties[name] && v != "" {
			out = append(out, name+":"+v)
			refers = append(refers, to...)
		}
	}

	return strings.Join(out, ";"), refers, nil
}

func withoutComments(text string) (string, error) {
	var out strings.Builder
	for {
		before, after, ok := strings.Cut(text, "/*")
		out.WriteString(before)
		if !ok {
			return out.String(), nil
		}

		_, rest, closed := strings.Cut(after, "*/")
		if !closed {
			return "", unsafeSVG("a comment without an end in a style")
		}

		out.WriteByte(' ')
		text = rest
	}
}

// functions are the CSS functions allowed in values.
var functions = wordSet(`rgb rgba hsl hsla url`)

// cleanValue accepts only property values that cannot load resources: no escapes, no strings that could hide any, and
// no functions except colours and url(#part).
func cleanValue(v string) (clean string, refers []string, err error) {
	v = strings.TrimSpace(v)
	if len(v) > 1000 {
		return "", nil, nil
	}

	if strings.ContainsFunc(v, func(r rune) bool {
		return strings.ContainsRune("\\<>{}@;:`&=*", r) || r < ' ' && r != '\t' && r != '\n' && r != '\r'
	}) {
		return "", nil, unsafeSVG("styles with escapes, addresses or expressions")
	}

	for rest := v; ; {
		at := strings.IndexByte(rest, '(')
		if at < 0 {
			return v, refers, nil
		}

		name := strings.ToLower(rest[strings.LastIndexAny(rest[:at], " \t\r\n,()/")+1 : at])
		arguments, after, closed := strings.Cut(rest[at+1:], ")")
		if !closed || !functions[name] || strings.Contains(arguments, "(") {
			return "", nil, unsafeSVG("styles that call a function: " + name)
		}

		if name == "url" {
			to, own := strings.CutPrefix(strings.Trim(strings.TrimSpace(arguments), `"'`), "#")
			if !own || !isIdentifier(to) {
				return "", nil, unsafeSVG("references to anything but its own parts: url")
			}
			refers = append(refers, to)
		}

		rest = after
	}
}
