package compose

import (
	"fmt"
	"mime"
	"net/mail"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const (
	maxSubject    = 998 // characters of a Subject
	maxName       = 200 // characters of a display name
	maxReferences = 20
	maxFileName   = 240 // bytes of the name of an attachment
	maxWord       = 60  // bytes of a word that is not encoded; a longer one could exceed the length of a line
)

// An AddressError is a mail address that cannot be written to a header.
type AddressError struct {
	Header  string // From, To or Reply-To
	Address string
	Msg     string
}

func (e *AddressError) Error() string { return fmt.Sprintf("%s %q: %s", e.Header, e.Address, e.Msg) }

// oneLine returns s with each run of white space and control characters as one space, at most limit characters long.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	}), " ")
	for i := range s {
		if limit == 0 {
			return strings.TrimSpace(s[:i])
		}
		limit--
	}
	return s
}

// unstructured returns s as the value of a header of free text such as Subject.
func unstructured(s string) string {
	s = oneLine(s, maxSubject)
	encode := strings.Contains(s, "=?") // it would be decoded by the receiver
	for word := range strings.SplitSeq(s, " ") {
		encode = encode || len(word) > maxWord
	}
	for i := 0; i < len(s) && !encode; i++ {
		encode = s[i] >= utf8.RuneSelf
	}
	if !encode {
		return s
	}
	return encodedWords(s)
}

// encodedWords returns s as encoded words of at most 75 bytes, separated by spaces. mime.QEncoding leaves plain ASCII
// as it is, also where it has the form of an encoded word.
func encodedWords(s string) string {
	const start, end, room = "=?UTF-8?q?", "?=", 75 - len("=?UTF-8?q?") - len("?=")
	var b strings.Builder
	used := 0
	b.WriteString(start)
	for _, r := range s {
		part := encodedRune(r)
		if used += len(part); used > room {
			b.WriteString(end + " " + start)
			used = len(part)
		}
		b.WriteString(part)
	}
	b.WriteString(end)
	return b.String()
}

// encodedRune returns r in the Q encoding.
func encodedRune(r rune) string {
	switch {
	case r == ' ':
		return "_"
	case r < utf8.RuneSelf && (r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'):
		return string(r)
	}
	var b strings.Builder
	for _, c := range []byte(string(r)) {
		fmt.Fprintf(&b, "=%02X", c)
	}
	return b.String()
}

// checkedAddress returns a as it may stand in a header. Domains are written in ASCII (RFC 5891); a local part that is
// not ASCII would need SMTPUTF8 at every server on the way, and is an error.
func checkedAddress(header string, a mail.Address) (*mail.Address, error) {
	parsed, err := mail.ParseAddress("<" + a.Address + ">")
	if err != nil || parsed.Address != a.Address || parsed.Name != "" {
		return nil, &AddressError{header, a.Address, "not a mail address"}
	}
	at := strings.LastIndexByte(a.Address, '@')
	local := a.Address[:at]
	for _, r := range local {
		if r <= ' ' || r >= 0x7f {
			return nil, &AddressError{header, a.Address, "the part before the @ has characters that are not ASCII"}
		}
	}
	domain, err := idna.Lookup.ToASCII(a.Address[at+1:])
	if err != nil || len(a.Address) > 320 {
		return nil, &AddressError{header, a.Address, "the domain is not a domain name"}
	}
	return &mail.Address{Name: displayName(a.Name), Address: local + "@" + domain}, nil
}

// displayName returns s as the name of an address, without words that would make a line too long. Some readers decode
// an encoded word inside of quotes, too, so none may be left.
func displayName(s string) string {
	words := strings.Split(strings.ReplaceAll(oneLine(s, maxName), "=?", "= ?"), " ")
	for i, word := range words {
		if len(word) > 3*maxWord {
			words[i] = strings.ToValidUTF8(word[:3*maxWord], "")
		}
	}
	return strings.Join(words, " ")
}

// isMessageID reports whether id, without angle brackets, may stand in Message-ID, In-Reply-To and References.
func isMessageID(id string) bool {
	if len(id) > 900 || !strings.Contains(strings.Trim(id, "@"), "@") {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] >= 0x7f || strings.IndexByte("<>()\",;\\", id[i]) >= 0 {
			return false
		}
	}
	return true
}

// References returns the References of an answer to the mail parent, whose own References are before: those and parent,
// without duplicates and malformed ids, and at most 20, of which the first is the root of the thread. Ids are without
// angle brackets.
func References(before []string, parent string) []string {
	var ids []string
	seen := map[string]bool{parent: true}
	for _, id := range before {
		if id = strings.Trim(strings.TrimSpace(id), "<>"); isMessageID(id) && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	if isMessageID(parent) {
		ids = append(ids, parent)
	}
	if extra := len(ids) - maxReferences; extra > 0 {
		ids = append(ids[:1], ids[1+extra:]...)
	}
	return ids
}

// bracketed returns the well-formed ones of ids as in a header.
func bracketed(ids []string) string {
	var list []string
	for _, id := range ids {
		if id = strings.Trim(id, "<>"); isMessageID(id) {
			list = append(list, "<"+id+">")
		}
	}
	return strings.Join(list, " ")
}

// unsubscribeLinks returns the List-Unsubscribe of links, which must be http, https or mailto.
func unsubscribeLinks(links []string) (value string, oneClick bool, err error) {
	var list []string
	for _, link := range links {
		u, err := url.Parse(link)
		if err != nil || len(link) > 900 || strings.ContainsAny(link, "<>, \t\r\n") ||
			u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
			return "", false, fmt.Errorf("list-unsubscribe: %q is not a link", link)
		}
		oneClick = oneClick || u.Scheme != "mailto"
		list = append(list, "<"+u.String()+">")
	}
	return strings.Join(list, ", "), oneClick, nil
}

// fileParameter returns the name of an attachment as a parameter of a header: in quotes, or by RFC 2231.
func fileParameter(kind, parameter, name string) string {
	return mime.FormatMediaType(kind, map[string]string{parameter: name})
}

// fileName returns name without directories and characters that file systems or headers refuse.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`"/\:<>?*|`, r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, oneLine(name, 500))
	if name = strings.TrimLeft(name, ". "); name == "" {
		return "attachment"
	}
	if len(name) > maxFileName { // percent-encoded, a longer one could exceed the length of a line
		ending := path.Ext(name)
		if len(ending) > 20 {
			ending = ""
		}
		name = strings.ToValidUTF8(name[:maxFileName-len(ending)], "") + ending
	}
	return name
}
