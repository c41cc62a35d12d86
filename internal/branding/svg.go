package branding

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of an SVG.
const (
	svgDepth = 48
	svgParts = 20_000 // start tags, end tags, texts and comments
	svgDrawn = 20_000 // elements after all references are expanded
	svgSide  = 100_000
)

const svgSpace = "http://www.w3.org/2000/svg"

// element is an accepted element with its accepted attributes; without a name it is text.
type element struct {
	name     string
	text     string
	attrs    []xml.Attr
	children []*element
	refers   []string // referenced ids
}

// cleanSVG parses an SVG and returns its sanitized form with the sides of its view box. A part that could run code or
// load resources is rejected by name; editor data (other namespaces, comments, unknown attributes) is dropped. The
// parser knows only XML's five entities and UTF-8. A document type is rejected before it could declare entities.
func cleanSVG(sent []byte) (clean []byte, width, height int, err error) {
	sent = bytes.TrimPrefix(sent, []byte("\ufeff"))
	if !utf8.Valid(sent) || bytes.IndexByte(sent, 0) >= 0 {
		return nil, 0, 0, invalidLogo("invalid_svg", "An SVG is sent in UTF-8.")
	}

	root, err := parseSVG(sent)
	if err != nil {
		return nil, 0, 0, err
	}

	if err := checkExpansion(root); err != nil {
		return nil, 0, 0, err
	}

	width, height, err = readDimensions(root)
	if err != nil {
		return nil, 0, 0, err
	}

	var out bytes.Buffer
	root.write(&out, true)

	return out.Bytes(), width, height, nil
}

// parseSVG builds the tree of the accepted elements.
func parseSVG(sent []byte) (*element, error) {
	d := xml.NewDecoder(bytes.NewReader(sent))
	var (
		root  *element
		path  []*element
		count int
	)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}

		if err != nil {
			return nil, invalidLogo("invalid_svg", "This is not well-formed XML in UTF-8.")
		}

		count++
		if count > svgParts {
			return nil,
				invalidLogo("too_large",
					fmt.Sprintf("An SVG has at most %d elements, texts and comments.", svgParts))
		}

		switch t := token.(type) {
		case xml.Directive:
			return nil, unsafeSVG("a document type (<!DOCTYPE>)")
		case xml.ProcInst:
			if t.Target != "xml" || root != nil {
				return nil, unsafeSVG("a processing instruction")
			}
		case xml.CharData:
			if len(path) > 0 && textual[path[len(path)-1].name] {
				path[len(path)-1].children = append(path[len(path)-1].children, &element{text: string(t)})
			} else if len(path) == 0 && len(bytes.TrimSpace(t)) > 0 {
				return nil, invalidLogo("invalid_svg", "There is text outside the picture.")
			}
		case xml.StartElement:
			if len(path) >= svgDepth {
				return nil, invalidLogo("too_large",
					fmt.Sprintf("The elements of an SVG are at most %d deep.", svgDepth))
			}

			if len(path) == 0 && (root != nil || t.Name.Local != "svg" || t.Name.Space != svgSpace) {
				return nil,
					invalidLogo("invalid_svg",
						"This is no SVG: its first element is not <svg xmlns=\""+svgSpace+"\">.")
			}

			e, err := acceptElement(t)
			if err != nil {
				return nil, err
			}

			if e == nil { // editor data
				if err := d.Skip(); err != nil {
					return nil, invalidLogo("invalid_svg", "This is not well-formed XML in UTF-8.")
				}
				continue
			}

			if root == nil {
				root = e
			} else {
				parent := path[len(path)-1]
				parent.children = append(parent.children, e)
			}

			path = append(path, e)
		case xml.EndElement:
			e := path[len(path)-1]
			path = path[:len(path)-1]
			if e.name == "style" {
				if err := e.cleanStyle(); err != nil {
					return nil, err
				}
			}
		}
	}

	if root == nil {
		return nil, invalidLogo("invalid_svg", "There is no picture in it.")
	}

	return root, nil
}

// unsafeSVG returns the error for a part that could run code or load resources.
func unsafeSVG(what string) error {
	return invalidLogo("unsafe_svg", "An SVG may not hold "+what+".")
}

// acceptElement returns the element with its accepted attributes, or nil for editor data, which is dropped with its
// contents.
func acceptElement(t xml.StartElement) (*element, error) {
	switch space := t.Name.Space; {
	case space != svgSpace && (space == "" || strings.Contains(strings.ToLower(space), "w3.org") && !harmless[space]):
		return nil, unsafeSVG("elements of another language: <" + t.Name.Local + ">")
	case space != svgSpace || t.Name.Local == "metadata":
		return nil, nil //nolint:nilnil // left out
	case !elements[t.Name.Local]:
		return nil, unsafeSVG("the element <" + t.Name.Local + ">")
	}

	e := &element{name: t.Name.Local}
	seen := map[string]bool{}
	for _, a := range t.Attr {
		name := a.Name.Local
		if strings.HasPrefix(strings.ToLower(name), "on") {
			return nil, unsafeSVG("event handlers: " + name)
		}

		switch a.Name.Space {
		case "":
		case "http://www.w3.org/1999/xlink", "xlink":
			if name != "href" {
				continue
			}
		case "http://www.w3.org/XML/1998/namespace", "xml":
			if name == "base" {
				return nil, unsafeSVG("xml:base")
			}
			continue
		default: // namespace declarations and editor data
			continue
		}

		value, keep, err := e.sanitizeValue(name, a.Value)
		if err != nil {
			return nil, err
		}

		if keep && !seen[name] {
			seen[name] = true
			e.attrs = append(e.attrs, xml.Attr{Name: xml.Name{Local: name}, Value: value})
		}
	}

	return e, nil
}

// sanitizeValue returns the sanitized value of an attribute and whether to keep it, or an error if it is unsafe.
func (e *element) sanitizeValue(name, v string) (string, bool, error) {
	switch {
	case name == "href":
		to, ok := strings.CutPrefix(strings.TrimSpace(v), "#")
		if !ok || !isIdentifier(to) {
			return "", false, unsafeSVG("references to anything but its own parts: href")
		}
		e.refers = append(e.refers, to)
		return "#" + to, referring[e.name], nil
	case name == "style":
		declarations, refers, err := cleanDeclarations(v)
		e.refers = append(e.refers, refers...)
		return declarations, declarations != "", err
	case name == "id":
		return v, isIdentifier(v), nil
	case name == "class":
		for word := range strings.FieldsSeq(v) {
			if !isIdentifier(word) {
				return "", false, nil
			}
		}
		return v, true, nil
	case properties[name]:
		clean, refers, err := cleanValue(v)
		e.refers = append(e.refers, refers...)
		return clean, clean != "", err
	case attributes[name]:
		// None of these attributes is interpreted as an address, a script or a style, and none needs other characters.
		ok := len(v) <= 1<<19 && !strings.ContainsFunc(v, func(r rune) bool {
			return !strings.ContainsRune("+-.,()%# \t\r\n", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') &&
				(r < 'A' || r > 'Z')
		})
		return v, ok, nil
	}

	return "", false, nil
}

// isIdentifier reports whether s can be used in a reference and in a selector without escaping.
func isIdentifier(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}

	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r != '-' && r != '.' && (r < '0' || r > '9')) {
			return false
		}
	}

	return true
}

// checkExpansion counts the elements drawn after all references are expanded, and rejects cycles: a few hundred bytes
// of nested references could expand to billions of elements.
func checkExpansion(root *element) error {
	byID := map[string]*element{}
	var index func(*element)
	index = func(e *element) {
		for _, a := range e.attrs {
			if a.Name.Local == "id" && byID[a.Value] == nil {
				byID[a.Value] = e
			}
		}

		for _, c := range e.children {
			index(c)
		}
	}
	index(root)
	const open = -1
	drawn := map[*element]int{}
	var size func(*element) (int, bool)
	size = func(e *element) (int, bool) {
		if n, ok := drawn[e]; ok {
			return n, n != open
		}

		drawn[e] = open
		n := 1
		next := slices.Clone(e.children)
		for _, to := range e.refers {
			found := byID[to]
			if found == nil {
				continue
			}

			if e.name == "style" && !strings.HasSuffix(found.name, "Gradient") { // its matches are not counted
				return n, false
			}

			next = append(next, found)
		}

		for _, c := range next {
			m, ok := size(c)
			n += m
			if !ok || n > svgDrawn {
				return n, false
			}
		}

		drawn[e] = n

		return n, true
	}
	if _, ok := size(root); !ok {
		return invalidLogo("too_large",
			fmt.Sprintf("Its references stand for more than %d elements, go in a circle, or lead from a style "+
				"sheet to more than gradients.", svgDrawn))
	}

	return nil
}

// readDimensions returns the image's dimensions from its view box, or from its width and height.
func readDimensions(root *element) (width, height int, err error) {
	of := func(name string) (v string) {
		for _, a := range root.attrs {
			if a.Name.Local == name {
				v = a.Value
			}
		}
		return v
	}
	w := of("width")
	h := of("height")
	if box := strings.FieldsFunc(of("viewBox"), func(r rune) bool {
		return strings.ContainsRune(", \t\r\n", r)
	}); len(box) == 4 {
		w = box[2]
		h = box[3]
	}

	x, errX := strconv.ParseFloat(strings.TrimSuffix(w, "px"), 64)
	y, errY := strconv.ParseFloat(strings.TrimSuffix(h, "px"), 64)
	if errX != nil || errY != nil || !(x > 0 && y > 0 && x <= svgSide && y <= svgSide) {
		return 0, 0,
			invalidLogo("invalid_svg", "The picture has no size: give it a viewBox, or a width and a height in pixels.")
	}

	return max(1, int(math.Round(x))), max(1, int(math.Round(y))), nil
}

// write serializes the element in canonical form: one namespace, no prefixes.
func (e *element) write(out *bytes.Buffer, root bool) {
	if e.name == "" {
		_ = xml.EscapeText(out, []byte(e.text)) // writing to a buffer never fails
		return
	}

	out.WriteString("<" + e.name)
	if root {
		out.WriteString(` xmlns="` + svgSpace + `"`)
	}

	for _, a := range e.attrs {
		out.WriteString(" " + a.Name.Local + `="`)
		_ = xml.EscapeText(out, []byte(a.Value))
		out.WriteByte('"')
	}

	if len(e.children) == 0 {
		out.WriteString("/>")
		return
	}

	out.WriteByte('>')
	for _, c := range e.children {
		c.write(out, false)
	}

	out.WriteString("</" + e.name + ">")
}
