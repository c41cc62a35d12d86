package compose

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/outreach/liquid"
)

// A Finding is something to look at before a mail is sent.
type Finding struct {
	Code     string `json:"code"`
	Severity string `json:"severity" enum:"error,warning,info"`
	Pointer  string `json:"pointer" doc:"Member of the template: /subject, /html, /blocks/2/url"`
	Message  string `json:"message" doc:"The finding in words"`
	Field    string `json:"field,omitempty" doc:"The merge field that it is about, such as contact.first_name"`
	Count    *int   `json:"count,omitempty"`
}

// Descriptions implements wire.Describer.
func (Finding) Descriptions() map[string]string {
	return map[string]string{
		"code": "What was found",
		"severity": "error: the mail cannot be sent to everybody; warning: it may look wrong or be filtered; " +
			"info: worth " +
			"knowing",
		"count": "fallback_missing: how many of the org's contacts lack a value, and would not get the mail",
	}
}

const (
	longSubject = 150
	largeMail   = 100 << 10 // Gmail clips at 102 KiB
)

// A Use is a merge field in a template.
type Use struct {
	Pointer    string
	Field      string
	HasDefault bool // the template does without a value
}

// Uses returns the merge fields, each once per member of the source.
func (t *Template) Uses() []Use {
	var list []Use
	for _, part := range []struct {
		pointer string
		parsed  *liquid.Template
	}{{"/subject", t.subject}, {t.htmlPointer(), t.html}, {"/text", t.text}} {
		if part.parsed == nil {
			continue
		}
		for _, f := range part.parsed.Fields() {
			u := Use{Pointer: part.pointer, Field: f.Path, HasDefault: f.HasDefault || !f.Output}
			if u.Pointer == "/blocks" {
				u.Pointer = memberAt(t.spans, f.Line, f.Column)
			}
			if !slices.Contains(list, u) {
				list = append(list, u)
			}
		}
	}
	return list
}

// Audience says what is known of the contacts that may get a mail.
type Audience struct {
	// Known reports whether a merge field exists, such as contact.attributes.plan.
	Known func(field string) bool
	// Lacking has the number of contacts without a value, by merge field.
	Lacking map[string]int
}

// Lint returns what to look at in t, of which r is a rendering; nil if t cannot be rendered.
func (t *Template) Lint(r *Rendered, a Audience) []Finding {
	list := []Finding{}
	found := func(severity, code, pointer, message string) *Finding {
		list = append(list, Finding{Code: code, Severity: severity, Pointer: pointer, Message: message})
		return &list[len(list)-1]
	}
	unsubscribe := false
	for _, u := range t.Uses() {
		unsubscribe = unsubscribe || u.Field == "unsubscribe_url" || u.Field == "preferences_url"
		switch {
		case !a.Known(u.Field):
			found("error", "unknown_field", u.Pointer, "There is no field "+u.Field+".").Field = u.Field
		case !u.HasDefault && optional(u.Field):
			f := found("warning", "fallback_missing", u.Pointer, "Contacts without "+u.Field+
				` will not get this mail; give it a value to use instead: {{ `+u.Field+` | default: "..." }}`)
			f.Field = u.Field
			if n, ok := a.Lacking[u.Field]; ok {
				f.Count = &n
			}
		}
	}
	if !unsubscribe {
		found("warning", "unsubscribe_missing", t.bodyPointer(),
			"There is no link to unsubscribe: add {{ unsubscribe_url }}.")
	}
	if t.source.Text == "" && t.html != nil {
		found("info", "text_missing", "/text", "There is no text part; one is made from the HTML.")
	}
	t.lintTags(found)
	if r != nil {
		t.lintRendered(r, found)
	}
	return list
}

// optional reports whether a merge field can be without a value.
func optional(field string) bool {
	return strings.HasPrefix(field, "contact.") && field != "contact.email" && field != "contact.id" ||
		strings.HasPrefix(field, "company.")
}

func (t *Template) bodyPointer() string {
	if t.html == nil {
		return "/text"
	}
	return t.htmlPointer()
}

func (t *Template) lintRendered(r *Rendered, found func(severity, code, pointer, message string) *Finding) {
	if r.Subject == "" {
		found("warning", "subject_missing", "/subject", "The subject is empty.")
	}
	if n := utf8.RuneCountInString(r.Subject); n > longSubject {
		found("warning", "subject_too_long", "/subject", "The subject has "+strconv.Itoa(n)+
			" characters; readers show about 70, and filters dislike more than 150.")
	}
	if shouts(r.Subject) {
		found("warning", "subject_shouts", "/subject",
			"The subject is in capitals or has several exclamation marks; filters take that for spam.")
	}
	for _, l := range r.Links {
		if code, message := lintLink(l); code != "" && !slices.Contains(r.own, l.URL) {
			found("warning", code, t.bodyPointer(), message)
		}
		if strings.Contains(l.URL, "&amp;") {
			found("warning", "escaped_ampersand", t.bodyPointer(), "The link "+l.URL+" has &amp; where & is meant.")
		}
	}
	for _, target := range r.refused {
		found("warning", "link_removed", t.bodyPointer(), "The link "+oneLine(target, 200)+
			" was removed: mails have links of "+strings.Join(schemes, ", ")+".")
	}
	if strings.Contains(t.source.Text, "&amp;") {
		found("warning", "escaped_ampersand", "/text", "The text part has &amp; where & is meant.")
	}
	if r.images > 0 && r.words < 10*r.images && r.words < 20 {
		found("warning", "image_only", t.bodyPointer(),
			"There are pictures and hardly any text; filters take that for spam.")
	}
	if n := len(r.HTML); n > largeMail {
		found("warning", "too_large", t.bodyPointer(),
			"The HTML has "+strconv.Itoa(n>>10)+" KiB; Gmail cuts mails at 102 KiB.")
	}
	if r.removed > 0 {
		found("info", "markup_removed", t.bodyPointer(), "Elements that mails cannot have, such as scripts and "+
			"forms, were removed.")
	}
}
