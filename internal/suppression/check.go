package suppression

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/form"
)

// maxNote is the maximum length of a note, in characters.
const maxNote = 500

// Check trims the address and the domain, sets the default purpose and reason, and records what is invalid.
func (n *New) Check(f *form.Form) {
	n.Email, n.Domain = strings.TrimSpace(n.Email), strings.TrimSpace(n.Domain)
	setWord(f, "purpose", &n.Purpose, All, []string{Marketing, All})
	setWord(f, "reason", &n.Reason, Manual, Reasons())
	if utf8.RuneCountInString(n.Note) > maxNote {
		f.Wrong("note", "too_long", "At most 500 characters are allowed.")
	}
	if !utf8.ValidString(n.Note) || strings.Contains(n.Note, "\x00") {
		f.Wrong("note", "invalid_characters", "The text is not UTF-8.")
	}
	switch {
	case (n.Email == "") == (n.Domain == ""):
		f.Wrong("email", "required", "Give either an email or a domain.")
	case n.Email != "" && !form.IsEmail(n.Email):
		f.Wrong("email", "invalid_email", "This is no mail address.")
	case n.Domain != "" && !form.IsEmail("a@"+n.Domain):
		f.Wrong("domain", "invalid_domain", "This is no domain, such as example.com.")
	}
}

// setWord sets a word that is absent, and records one that is not allowed.
func setWord(f *form.Form, field string, at *string, absent string, words []string) {
	if *at == "" {
		*at = absent
	} else if !slices.Contains(words, *at) {
		f.Wrong(field, "not_allowed", "The value is one of "+strings.Join(words, ", ")+".")
	}
}
