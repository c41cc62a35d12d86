package sheet

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"io"
	"mime/quotedprintable"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// maxCards is the maximum size of a file of vCards, which is held in memory.
const maxCards = 64 << 20

// cardColumns are the names of the columns of properties, without the types of the property.
var cardColumns = map[string]string{
	"FN": "Full Name", "EMAIL": "Email", "TEL": "Phone", "ORG": "Organization", "TITLE": "Job Title", "ROLE": "Role",
	"NOTE": "Notes",
	"URL":  "Website", "BDAY": "Birthday", "ADR": "Address", "CATEGORIES": "Tags", "NICKNAME": "Nickname",
	"UID": "UID", "REV": "Last Modified", "ANNIVERSARY": "Anniversary", "LABEL": "Address Label", "TZ": "TZ",
}

// cardSkipped are properties that say nothing about a person.
var cardSkipped = []string{"BEGIN", "END", "VERSION", "PRODID"}

// cardBinary are properties that are no text.
var cardBinary = []string{"PHOTO", "LOGO", "SOUND", "KEY"}

// cardNames are the columns of the parts of the property N.
var cardNames = []string{"Last Name", "First Name", "Middle Name", "Name Prefix", "Name Suffix"}

// property is a line of a vCard.
type property struct {
	name, value string
	params      []string // such as TYPE=HOME, in upper case
}

// card is the values of one person, by column.
type card map[string]string

// cardSource returns vCards of version 2.1, 3 or 4 as CSV: a row for each card, and a column for each property.
func cardSource(in *lineReader, encoding string) (source, error) {
	src := source{encoding: encoding, delimiter: ","}
	cards, columns := []card{}, []string{"Full Name", "First Name", "Last Name", "Email"}

	var now card
	err := eachProperty(in, func(p property) {
		switch {
		case p.name == "BEGIN":
			now = card{}
			cards = append(cards, now)
		case now == nil, slices.Contains(cardSkipped, p.name):
		case slices.Contains(cardBinary, p.name):
			out := OmittedColumn{Column: p.name, Reason: "not_text"}
			if !slices.Contains(src.leftOut, out) {
				src.leftOut = append(src.leftOut, out)
			}
		default:
			columns = now.add(p, columns)
		}
	})
	if err != nil {
		return source{}, err
	}

	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(columns) // to a buffer
	for _, c := range cards {
		cells := make([]string, len(columns))
		for i, name := range columns {
			cells[i] = c[name]
		}
		_ = w.Write(cells) // as above
	}
	w.Flush()
	src.in = bufio.NewReaderSize(&b, peek)
	src.encoding = UTF8

	return src, nil
}

// add sets the columns of a property, and returns the columns with those that are new.
func (c card) add(p property, columns []string) []string {
	set := func(name, value string) {
		if value = strings.TrimSpace(value); value == "" {
			return
		}
		for n, free := 2, name; ; n++ {
			if _, taken := c[free]; !taken {
				c[free] = value
				if !slices.Contains(columns, free) {
					columns = append(columns, free)
				}
				return
			}
			free = name + " " + strconv.Itoa(n)
		}
	}
	if p.name == "N" {
		for i, part := range splitEscaped(p.value, ';') {
			if i < len(cardNames) {
				set(cardNames[i], unescape(part))
			}
		}
		return columns
	}

	name := cardColumns[p.name]
	if name == "" {
		name = p.name
	}
	if p.name == "TEL" && slices.ContainsFunc(p.params, func(s string) bool {
		return strings.Contains(s, "CELL") || strings.Contains(s, "MOBILE")
	}) {
		name = "Mobile Phone"
	}
	switch p.name {
	case "CATEGORIES":
		set(name, strings.ReplaceAll(unescape(p.value), ",", ";"))
		return columns
	case "ADR", "ORG":
		parts := splitEscaped(p.value, ';')
		parts = slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
		for i := range parts {
			parts[i] = unescape(parts[i])
		}
		set(name, strings.Join(parts, ", "))
		return columns
	case "EMAIL", "TEL":
		value := strings.TrimPrefix(strings.TrimPrefix(unescape(p.value), "tel:"), "mailto:")
		set(name, value)
		return columns
	}
	set(name, unescape(p.value))

	return columns
}

// eachProperty calls do with the properties of vCards, unfolded and decoded.
func eachProperty(in *lineReader, do func(property)) error {
	size := 0
	text := ""
	flush := func() {
		if p, ok := parseProperty(text); ok {
			do(p)
		}
		text = ""
	}
	for {
		l, err := in.next()
		if errors.Is(err, io.EOF) {
			flush()
			return nil
		}
		if err != nil {
			return Unreadable(err)
		}
		if size += len(l.text); size > maxCards {
			return WrongFile("too_large", "A file of vCards has at most 64 MiB.")
		}

		soft := strings.HasSuffix(text, "=") && strings.Contains(strings.ToUpper(text), "QUOTED-PRINTABLE")
		switch {
		case soft:
			text = text[:len(text)-1] + strings.TrimLeft(l.text, " \t")
		case l.text != "" && (l.text[0] == ' ' || l.text[0] == '\t'):
			text += l.text[1:]
		default:
			flush()
			text = l.text
		}
	}
}

// parseProperty parses an unfolded line, such as item1.TEL;TYPE=CELL:+1 555 0100.
func parseProperty(text string) (p property, ok bool) {
	colon, inQuotes := -1, false
	for i := 0; i < len(text) && colon < 0; i++ {
		switch {
		case text[i] == '"':
			inQuotes = !inQuotes
		case text[i] == ':' && !inQuotes:
			colon = i
		}
	}
	if colon < 0 {
		return p, false
	}

	parts := strings.Split(strings.ToUpper(text[:colon]), ";")
	p.name = strings.TrimSpace(parts[0])
	if dot := strings.LastIndexByte(p.name, '.'); dot >= 0 {
		p.name = p.name[dot+1:]
	}
	p.params, p.value = parts[1:], text[colon+1:]
	p.decode()

	return p, p.name != ""
}

// decode decodes a value in quoted-printable or base64, the encodings of version 2.1.
func (p *property) decode() {
	has := func(words ...string) bool {
		return slices.ContainsFunc(p.params, func(s string) bool {
			return slices.Contains(words, strings.TrimPrefix(s, "ENCODING="))
		})
	}
	var b []byte
	var err error
	switch {
	case has("QUOTED-PRINTABLE"):
		b, err = io.ReadAll(quotedprintable.NewReader(strings.NewReader(p.value)))
	case has("B", "BASE64") && !slices.Contains(cardBinary, p.name):
		b, err = base64.StdEncoding.DecodeString(strings.TrimSpace(p.value))
	default:
		return
	}
	if err != nil {
		return
	}
	if !utf8.Valid(b) {
		b, _ = charmap.Windows1252.NewDecoder().Bytes(b) // never fails
	}
	p.value = string(b)
}

// splitEscaped splits s at a separator that no backslash precedes.
func splitEscaped(s string, sep byte) (parts []string) {
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case sep:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

// unescape resolves the escapes of a text value.
func unescape(s string) string {
	return strings.NewReplacer(`\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";", `\:`, ":", `\\`, `\`).Replace(s)
}
