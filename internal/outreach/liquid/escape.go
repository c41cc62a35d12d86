package liquid

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escaped returns value s as it is written at the place that p is at.
func (p *page) escaped(s string, markup, encoded bool) string {
	s = plain(s)
	switch p.state {
	case inURL:
		return p.link.escaped(s, encoded)
	case inText:
		if markup {
			p.follow(s) // Markup is balanced: the state is inText again
			p.state = inText
			return s
		}
		return asText(s)
	case inRawText:
		switch string(p.element) {
		case "title", "textarea":
			return asText(s)
		case "style":
			return asStyle(s)
		}
		return ""
	case inComment, inBogus:
		return strings.ReplaceAll(asText(s), "-", "&#45;")
	case beforeAttributeValue:
		p.state, p.quote = inAttributeValue, 0
		if s = p.attribute(s, encoded); s == "" {
			p.state = inTag // else the next attribute would become the value
			return `""`
		}
		return s
	case inAttributeValue:
		return p.attribute(s, encoded)
	default: // names of tags and attributes
		return ""
	}
}

// attribute returns s as part of the value of the attribute.
func (p *page) attribute(s string, encoded bool) string {
	switch p.kind {
	case urlAttribute:
		s = p.link.escaped(s, encoded)
	case styleAttribute:
		return asStyle(s)
	case closedAttribute:
		return ""
	case plainAttribute:
	}
	if s = asText(s); p.quote == 0 {
		s = unquoted.Replace(s)
	}
	return s
}

var references = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

func asText(s string) string { return references.Replace(s) }

var unquoted = strings.NewReplacer(" ", "&#32;", "\t", "&#9;", "\n", "&#10;", "\f", "&#12;", "=", "&#61;", "`", "&#96;")

// asStyle keeps the characters of s that can neither end a declaration nor call a function.
func asStyle(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("#%.,-_", r) {
			return r
		}
		return -1
	}, s)
}

// plain removes control characters except tab and line feed, and bytes that are not UTF-8.
func plain(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] >= ' ' && s[i] < 0x7f || s[i] == '\n' || s[i] == '\t'
	}
	if clean {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\r\n", "\n"))
}

// oneLine returns s with each run of white space and control characters as one space; a run that goes on from the
// output before is dropped.
func (w *writer) oneLine(s string) string {
	var b strings.Builder
	space := strings.HasSuffix(w.String(), " ")
	for _, r := range strings.ToValidUTF8(s, "") {
		switch {
		case !unicode.IsSpace(r) && !unicode.IsControl(r):
			b.WriteRune(r)
			space = false
		case !space:
			b.WriteByte(' ')
			space = true
		}
	}
	return b.String()
}

// link follows the output through a URL.
type link struct {
	start   []byte // the output so far, at most 64 bytes
	settled bool   // the scheme is decided, or there is none
	query   bool   // behind ? or #
}

const delimiters = ":/?#\\"

// add moves over s.
func (l *link) add(s string) {
	if room := 64 - len(l.start); room > 0 {
		l.start = append(l.start, s[:min(room, len(s))]...)
	}
	l.settled = l.settled || strings.ContainsAny(s, delimiters) || len(l.start) >= 64
	l.query = l.query || strings.ContainsAny(s, "?#")
}

// schemes are the schemes that a value may bring.
var schemes = map[string]bool{"http": true, "https": true, "mailto": true, "tel": true}

// escaped returns s as the next part of the URL, percent-encoded where that part asks for it.
func (l *link) escaped(s string, encoded bool) string {
	before := strings.TrimSpace(html.UnescapeString(string(l.start)))
	if before == "" {
		s = strings.TrimSpace(s)
	}
	if !l.settled {
		whole := before + s
		if i := strings.IndexAny(whole, delimiters); i >= 0 && whole[i] == ':' && !schemes[strings.ToLower(whole[:i])] {
			s = "#"
		} else if i < 0 && before == "" && s != "" && !schemes[strings.ToLower(s)] {
			s = "./" + s // the same relative URL, which no colon of the template can turn into a scheme
		}
	}
	if !encoded {
		keep := "-._~:/?#[]@!$&'()*+,;=%"
		if lowered := strings.ToLower(before); l.query {
			keep = "-._~"
		} else if strings.HasPrefix(lowered, "mailto:") || strings.HasPrefix(lowered, "tel:") {
			keep = "-._~@+"
		}
		s = percentEncoded(s, keep)
	}
	l.add(s)
	return s
}

func percentEncoded(s, keep string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		isKept := strings.IndexByte(keep, c) >= 0 && (c != '%' || isHex(s, i+1) && isHex(s, i+2))
		if isLetter(c) || c >= '0' && c <= '9' || isKept {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
	return b.String()
}

// isHex reports whether s has a hexadecimal digit at i.
func isHex(s string, i int) bool {
	return i < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[i]) >= 0
}
