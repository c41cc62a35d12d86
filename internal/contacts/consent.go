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
	Basis       part
	Source      part
	At          part
	Text        part
	ConfirmedAt part
}

var basis = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// A ConsentPart is a part of a consent, as a field of a filter or a column of a file.
type ConsentPart struct {
	Name string
	Of   func(*Consent) string // "" if it has no value
	In   func(*ConsentPatch) *part
}

var consentParts = []ConsentPart{
	{"consent_basis", func(c *Consent) string { return c.Basis }, func(p *ConsentPatch) *part { return &p.Basis }},
	{
		"consent_source", func(c *Consent) string { return textOr(c.Source) },
		func(p *ConsentPatch) *part { return &p.Source },
	},
	{"consent_at", func(c *Consent) string { return c.At.String() }, func(p *ConsentPatch) *part { return &p.At }},
	{
		"consent_text", func(c *Consent) string { return textOr(c.Text) },
		func(p *ConsentPatch) *part { return &p.Text },
	},
	{"consent_confirmed_at", func(c *Consent) string {
		if c.ConfirmedAt == nil {
			return ""
		}
		return c.ConfirmedAt.String()
	}, func(p *ConsentPatch) *part { return &p.ConfirmedAt }},
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

// mergeConsent merges in into a copy of before. null removes the consent.
func (c *checker) mergeConsent(in wire.Field[ConsentPatch], before *Consent) *Consent {
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
			c.addError("consent/basis", "invalid_format",
				"A basis has 1 to 64 lower-case letters, digits, hyphens and underscores, such as consent.")
		}
	case p.Basis.Null || out.Basis == "":
		c.addError("consent/basis", "required", "A consent has a basis, such as consent or legitimate_interest.")
	}

	c.applyOptional("consent/source", p.Source, &out.Source, maxName)
	if p.Text.Set {
		out.Text = nil
		if s := strings.TrimSpace(p.Text.Value); s != "" && !p.Text.Null {
			out.Text = &s
		}
		if utf8.RuneCountInString(p.Text.Value) > maxText {
			c.addError("consent/text", "too_long", "At most 2000 characters are allowed.")
		}
	}
	if at := c.parseMoment("consent/at", p.At); at != nil {
		out.At = *at
	}
	if p.ConfirmedAt.Set {
		out.ConfirmedAt = c.parseMoment("consent/confirmed_at", p.ConfirmedAt)
	}

	return &out
}

// parseMoment returns a time between 1970 and now, or nil if there is none.
func (c *checker) parseMoment(field string, in part) *wire.Time {
	if !in.Set || in.Null || strings.TrimSpace(in.Value) == "" {
		return nil
	}
	var t wire.Time
	if err := t.UnmarshalText([]byte(strings.TrimSpace(in.Value))); err != nil {
		c.addError(field, "invalid_time", "This is not an RFC 3339 time.")
		return nil
	}
	if t.Before(time.Unix(0, 0)) || t.After(time.Now().Add(time.Minute)) {
		c.addError(field, "out_of_range", "The time lies between 1970 and now.")
	}
	return &t
}
