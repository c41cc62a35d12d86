package branding

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func (p *Patch) applyTo(s *Settings) error {
	var wrong []fault.FieldError
	if p.Name.Set {
		s.Name = nil
		if !p.Name.Null {
			name := strings.TrimSpace(p.Name.Value)
			s.Name = &name
			if f := checkName(name); f != nil {
				wrong = append(wrong, *f)
			}
		}
	}

	if p.SupportEmail.Set {
		s.SupportEmail = nil
		if !p.SupportEmail.Null {
			s.SupportEmail = &p.SupportEmail.Value
		}
	}

	if p.HideBrand.Set {
		if p.HideBrand.Null {
			wrong = append(
				wrong,
				fault.FieldError{
					Pointer: "#/hide_brand",
					Code:    "not_nullable",
					Detail:  "This field cannot be cleared.",
				},
			)
		}

		s.HideBrand = p.HideBrand.Value
	}

	wrong = append(wrong, p.applyColors(s)...)
	if wrong != nil {
		return &fault.Fault{Code: fault.ValidationFailed, Detail: "The request has invalid fields.", Fields: wrong}
	}

	if p.Colors.Set && s.Colors != nil {
		return s.Colors.Check()
	}

	return nil
}

// applyColors applies the colours of the patch. A cleared colour becomes the platform's; if all four are the
// platform's, the org has no colours.
func (p *Patch) applyColors(s *Settings) (wrong []fault.FieldError) {
	if !p.Colors.Set {
		return nil
	}

	if p.Colors.Null {
		s.Colors = nil
		return nil
	}

	now := s.Palette()
	for _, one := range []struct {
		name string
		sent wire.Field[string]
		at   *Color
		rule Color
	}{
		{"primary", p.Colors.Value.Primary, &now.Primary, DefaultPalette.Primary},
		{"accent", p.Colors.Value.Accent, &now.Accent, DefaultPalette.Accent},
		{"background", p.Colors.Value.Background, &now.Background, DefaultPalette.Background},
		{"text", p.Colors.Value.Text, &now.Text, DefaultPalette.Text},
	} {
		switch c, ok := ParseColor(one.sent.Value); {
		case !one.sent.Set:
		case one.sent.Null:
			*one.at = one.rule
		case !ok:
			wrong = append(wrong,
				fault.FieldError{
					Pointer: "#/colors/" + one.name, Code: "invalid_color",
					Detail: "A colour must be #RRGGBB: six hexadecimal digits.",
				})
		default:
			*one.at = c
		}
	}

	s.Colors = &now
	if now == DefaultPalette {
		s.Colors = nil
	}

	return wrong
}

// checkName rejects names that could mislead in the header of a mail or a page: addresses, and invisible characters.
func checkName(name string) *fault.FieldError {
	bad := func(code, detail string) *fault.FieldError {
		return &fault.FieldError{Pointer: "#/brand_name", Code: code, Detail: detail}
	}
	switch {
	case name == "":
		return bad("required", "A name has a character at least; null clears it.")
	case utf8.RuneCountInString(name) > NameMax:
		return bad("too_long", fmt.Sprintf("A name has at most %d characters.", NameMax))
	case strings.ContainsAny(name, "@<>\"\\") || strings.Contains(name, "://") ||
		strings.ContainsFunc(name, isInvisible):
		return bad("invalid_text",
			"A name holds no mail or web address, none of @ < > \" \\, and no invisible characters.")
	}

	return nil
}

// isInvisible reports whether a character is invisible or changes how other characters are displayed.
func isInvisible(r rune) bool {
	return r != ' ' && (!unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r))
}
