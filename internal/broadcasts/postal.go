package broadcasts

import (
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/outreach/compose"
)

// bodyEnd is where an HTML document ends for its reader.
var bodyEnd = regexp.MustCompile(`(?i)</body\s*>`)

// signed returns the mail with the postal address of the org at its end, unless it has the address already.
func (m *frozen) signed(address string) *frozen {
	out := *m
	out.HTML, out.Text = withAddress(m.HTML, m.Text, address)
	out.Variants = append(out.Variants[:0:0], m.Variants...)
	for i := range out.Variants {
		v := &out.Variants[i]
		v.HTML, v.Text = withAddress(v.HTML, v.Text, address)
	}
	if len(m.Blocks) > 0 {
		out.Blocks = append(slices.Clone(m.Blocks), compose.Block{Type: "footer", HTML: markup(address)})
	}
	return &out
}

func withAddress(page, text, address string) (string, string) {
	first, _, _ := strings.Cut(address, "\n")
	if page != "" && !strings.Contains(page, html.EscapeString(first)) {
		footer := `<p style="font-size:12px;color:#666666">` + markup(address) + `</p>`
		if at := bodyEnd.FindStringIndex(page); at != nil {
			page = page[:at[0]] + footer + page[at[0]:]
		} else {
			page += footer
		}
	}
	if text != "" && !strings.Contains(text, first) {
		text = strings.TrimRight(text, "\n") + "\n\n" + literal(address) + "\n"
	}
	return page, text
}

// markup returns an address as HTML.
func markup(address string) string {
	return strings.ReplaceAll(literal(html.EscapeString(address)), "\n", "<br>")
}

// literal returns text that has no meaning in a template.
func literal(s string) string {
	return strings.NewReplacer("{{", "{ {", "{%", "{ %", "\r", "").Replace(s)
}
