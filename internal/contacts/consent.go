package contacts

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Consent is the legal basis on which an org writes to a contact.
type Consent = events.Consent

// ConsentPatch is a merge patch of a consent.
type ConsentPatch struct {
	Basis       member
	Source      member
	At          member
	Text        member
	ConfirmedAt member
}

var basis = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// A ConsentPart is a member of a consent, as a field of a filter or a column of a file.
type ConsentPart struct {
	Name string
	Of   func(*Consent) string // "" if it has no value
	In   func(*ConsentPatch) *member
}

var consentParts = []ConsentPart{
	{"consent_basis", func(c *Consent) string { return c.Basis }, func(p *ConsentPatch) *member { return &p.Basis }},
	{
		"consent_source", func(c *Consent) string { return textOr(c.Source) },
		func(p *ConsentPatch) *member { return &p.Source },
	},
	{"consent_at", func(c *Consent) string { return c.At.String() }, func(p *ConsentPatch) *member { return &p.At }},
	{
		"consent_text", func(c *Consent) string { return textOr(c.Text) },
		func(p *ConsentPatch) *member { return &p.Text },
	},
	{"consent_confirmed_at", func(c *Consent) string {
		if c.ConfirmedAt == nil {
			return ""
		}
		return c.ConfirmedAt.String()
	}, func(p *ConsentPatch) *member { return &p.ConfirmedAt }},
}

// ConsentNames returns the names of the parts of a consent.
func ConsentNames() []string {
	names := make([]string, len(consentParts))
	for i := range consentParts {
		names[i] = consentParts[i].Name
	}
	return names
}

// ConsentNamed returns the part of a consent with the name, or nil if there is none.
func ConsentNamed(name string) *ConsentPart {
	for i := range consentParts {
		if consentParts[i].Name == name {
			return &consentParts[i]
		}
	}
	return nil
}

func textOr(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// consent merges in into a copy of before. null removes the consent.
func (v *checker) consent(in wire.Field[ConsentPatch], before *Consent) *Consent {
	if in.Null {
		return nil
	}
	out := Consent{At: wire.Now()}
	if before != nil {
		out = *before
	}
	p := &in.Value
	switch {
	case p.Basis.Set && !p.Basis.Null:
		if out.Basis = strings.TrimSpace(p.Basis.Value); !basis.MatchString(out.Basis) {
			v.wrong("consent/basis", "invalid_format",
				"A basis has 1 to 64 lower-case letters, digits, hyphens and underscores, such as consent.")
		}
	case p.Basis.Null || out.Basis == "":
		v.wrong("consent/basis", "required", "A consent has a basis, such as consent or legitimate_interest.")
	}
	v.optional("consent/source", p.Source, &out.Source, maxName)
	if p.Text.Set {
		out.Text = nil
		if s := strings.TrimSpace(p.Text.Value); s != "" && !p.Text.Null {
			out.Text = &s
		}
		if utf8.RuneCountInString(p.Text.Value) > maxText {
			v.wrong("consent/text", "too_long", "At most 2000 characters are allowed.")
		}
	}
	if at := v.moment("consent/at", p.At); at != nil {
		out.At = *at
	}
	if p.ConfirmedAt.Set {
		out.ConfirmedAt = v.moment("consent/confirmed_at", p.ConfirmedAt)
	}
	return &out
}

// moment returns a time between 1970 and now, or nil if there is none.
func (v *checker) moment(field string, in member) *wire.Time {
	if !in.Set || in.Null || strings.TrimSpace(in.Value) == "" {
		return nil
	}
	var t wire.Time
	if err := t.UnmarshalText([]byte(strings.TrimSpace(in.Value))); err != nil {
		v.wrong(field, "invalid_time", "This is not an RFC 3339 time.")
		return nil
	}
	if t.Before(time.Unix(0, 0)) || t.After(time.Now().Add(time.Minute)) {
		v.wrong(field, "out_of_range", "The time lies between 1970 and now.")
	}
	return &t
}
