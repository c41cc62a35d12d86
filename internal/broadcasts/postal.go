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

// withPostalAddress returns the mail with the postal address of the org at its end, unless it has the address already.
func (m *frozen) withPostalAddress(address string) *frozen {
	out := *m
	out.HTML, out.Text = withAddress(m.HTML, m.Text, address)
	out.Variants = append(out.Variants[:0:0], m.Variants...)
	for i := range out.Variants {
		v := &out.Variants[i]
		v.HTML, v.Text = withAddress(v.HTML, v.Text, address)
	}
	if len(m.Blocks) > 0 {
		out.Blocks = append(slices.Clone(m.Blocks), compose.Block{Type: "footer", HTML: addressHTML(address)})
	}
	return &out
}

func withAddress(page, text, address string) (string, string) {
	first, _, _ := strings.Cut(address, "\n")
	if page != "" && !strings.Contains(page, html.EscapeString(first)) {
		footer := `<p style="font-size:12px;color:#666666">` + addressHTML(address) + `</p>`
		if at := bodyEnd.FindStringIndex(page); at != nil {
			page = page[:at[0]] + footer + page[at[0]:]
		} else {
			page += footer
		}
	}
	if text != "" && !strings.Contains(text, first) {
		text = strings.TrimRight(text, "\n") + "\n\n" + escapeTemplate(address) + "\n"
	}

	return page, text
}

// addressHTML returns an address as HTML.
func addressHTML(address string) string {
	return strings.ReplaceAll(escapeTemplate(html.EscapeString(address)), "\n", "<br>")
}

// escapeTemplate returns text that has no meaning in a template.
func escapeTemplate(s string) string {
	return strings.NewReplacer("{{", "{ {", "{%", "{ %", "\r", "").Replace(s)
}
