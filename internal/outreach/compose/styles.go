package compose

import (
	"regexp"
	"strings"
)

// A declaration is a property of CSS with its value.
type declaration struct {
	name, value string
	important   bool
}

var (
	propertyName = regexp.MustCompile(`^-?[a-z][a-z-]*$`)
	styleURL     = regexp.MustCompile(`(?i)url\s*\(\s*["']?\s*([a-z][a-z0-9+.-]*:)?`)
	mediaQuery   = regexp.MustCompile(`^[\w\s(),:./-]+$`)
	selectorText = regexp.MustCompile(`^[^<{}\\@;]+$`)
)

// declarations returns the safe declarations of the inside of a rule or of a style attribute.
func declarations(s string) []declaration {
	var list []declaration
	for part := range splitOutside(withoutComments(s), ';') {
		name, value, found := strings.Cut(part, ":")
		d := declaration{name: strings.ToLower(strings.TrimSpace(name)), value: strings.TrimSpace(value)}
		if lowered := strings.ToLower(d.value); strings.HasSuffix(lowered, "important") {
			if i := strings.LastIndexByte(d.value, '!'); i >= 0 && strings.TrimSpace(lowered[i+1:]) == "important" {
				d.value, d.important = strings.TrimSpace(d.value[:i]), true
			}
		}
		if found && isSafe(d) {
			list = append(list, d)
		}
	}
	return list
}

// isSafe reports whether d can neither run code nor load from elsewhere than the web, nor end the element of a style.
func isSafe(d declaration) bool {
	if !propertyName.MatchString(d.name) || d.value == "" || len(d.value) > 2000 ||
		d.name == "behavior" || d.name == "-moz-binding" {
		return false
	}
	if strings.ContainsAny(d.value, "<>{}\\@") {
		return false
	}
	lowered := strings.ToLower(d.value)
	if strings.Contains(lowered, "expression") || strings.Contains(lowered, "script:") ||
		d.name == "position" && lowered != "relative" && lowered != "static" {
		return false
	}
	for _, found := range styleURL.FindAllStringSubmatch(lowered, -1) {
		if found[1] != "http:" && found[1] != "https:" {
			return false
		}
	}
	return true
}

func (d declaration) String() string {
	if d.important {
		return d.name + ":" + d.value + "!important"
	}
	return d.name + ":" + d.value
}

func joined(list []declaration) string {
	var b strings.Builder
	for i, d := range list {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(d.String())
	}
	return b.String()
}

// withoutComments removes the comments of CSS.
func withoutComments(s string) string {
	for {
		before, after, found := strings.Cut(s, "/*")
		if !found {
			return s
		}
		_, after, _ = strings.Cut(after, "*/")
		s = before + " " + after
	}
}

// splitOutside cuts s at c where it stands outside of quotes and parentheses.
func splitOutside(s string, c byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		var quote byte
		depth, start := 0, 0
		for i := range len(s) {
			switch b := s[i]; {
			case quote != 0:
				if b == quote {
					quote = 0
				}
			case b == '"' || b == '\'':
				quote = b
			case b == '(':
				depth++
			case b == ')':
				depth = max(depth-1, 0)
			case b == c && depth == 0:
				if !yield(s[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(s[start:])
	}
}

// A rule is a selector, or several, with its declarations; media is "" or the query around it.
type rule struct {
	media        string
	selectors    []string
	declarations []declaration
}

// rules returns the rules of a style sheet. @media is read; every other rule that begins with @ is left out.
func rules(sheet, media string) []rule {
	var list []rule
	sheet = withoutComments(strings.NewReplacer("<!--", "", "-->", "").Replace(sheet))
	for sheet != "" && len(list) < maxRules {
		head, rest, found := strings.Cut(sheet, "{")
		if at := strings.LastIndexByte(head, ';'); at >= 0 {
			head = head[at+1:] // behind @import and @charset
		}
		if !found {
			return list
		}
		body, after := untilClosed(rest)
		sheet = after
		head = strings.Join(strings.Fields(head), " ")
		if strings.HasPrefix(head, "@") {
			query, isMedia := strings.CutPrefix(strings.ToLower(head), "@media")
			if query = strings.TrimSpace(query); isMedia && media == "" && mediaQuery.MatchString(query) {
				list = append(list, rules(body, query)...)
			}
			continue
		}
		r := rule{media: media, declarations: declarations(body)}
		for s := range splitOutside(head, ',') {
			if s = strings.TrimSpace(s); s != "" && len(s) <= 200 && selectorText.MatchString(s) {
				r.selectors = append(r.selectors, s)
			}
		}
		if len(r.selectors) > 0 && len(r.declarations) > 0 {
			list = append(list, r)
		}
	}
	return list
}

// untilClosed cuts s behind the } that closes the block s begins in.
func untilClosed(s string) (body, after string) {
	depth := 1
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[:i], s[i+1:]
			}
		}
	}
	return s, ""
}
