package mail

import (
	"html"
	"strings"
)

// Template is the content of a mail before the brand is applied. Its texts may contain placeholders for the brand's
// name (named).
type Template struct {
	Subject string   `json:"subject"`
	Before  []string `json:"before"` // paragraphs
	Label   string   `json:"label,omitempty"`
	Target  string   `json:"target,omitempty"`
	After   []string `json:"after,omitempty"`
}

// Theme is the brand of a mail: its names and its look. Colours are validated #rrggbb.
type Theme struct {
	Name                                 string // "": no name
	PoweredBy                            string // "": none
	Support                              string // email address; "": none
	Logo                                 string // URL of a raster image; "": none
	Primary, OnPrimary, Background, Text string
}

// platform is the theme of a mail without an org's brand.
var platform = Theme{Name: "Funnelwork"}

// The marks around a placeholder: the text with a name, % being the name, and the text without one.
const (
	markBegin, markElse, markEnd = "\ue000", "\ue001", "\ue002"
)

// named returns a placeholder.
func named(with, without string) string { return markBegin + with + markElse + without + markEnd }

// fill replaces the placeholders in text.
func fill(text, name string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, markBegin)
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		with, rest, _ := strings.Cut(rest, markElse)
		without, rest, _ := strings.Cut(rest, markEnd)
		if name == "" {
			out.WriteString(without)
		} else {
			out.WriteString(strings.ReplaceAll(with, "%", name))
		}
		text = rest
	}
}

// Dress renders m's template in a theme and sets the sender's name; the address stays the platform's. A mail stored
// without a template is unchanged.
func (m *Message) Dress(l Theme) {
	if m.Letter == nil {
		return
	}
	m.write(l)
	m.dressed, m.from = true, oneLine(l.Name)
}

func (m *Message) write(l Theme) {
	e, t := html.EscapeString, m.Letter
	l.Name, l.PoweredBy, l.Support = quote(l.Name), quote(l.PoweredBy), oneLine(l.Support)
	m.Subject = fill(t.Subject, l.Name)
	var text, body strings.Builder
	say := func(paragraphs []string) {
		for _, p := range paragraphs {
			p = fill(p, l.Name)
			text.WriteString(p + "\n\n")
			body.WriteString("<p>" + e(p) + "</p>")
		}
	}
	style, link := "font-family:sans-serif;line-height:1.5", ""
	if l.Primary != "" {
		style += ";color:" + l.Text + ";background:" + l.Background
		link = ` style="display:inline-block;padding:8px 16px;border-radius:4px;text-decoration:none;color:` +
			l.OnPrimary + ";background:" + l.Primary + `"`
	}
	if l.Logo != "" {
		body.WriteString(`<p><img src="` + e(l.Logo) + `" alt="` + e(l.Name) +
			`" style="max-height:48px;max-width:240px"></p>`)
	}
	say(t.Before)
	if t.Target != "" {
		text.WriteString(t.Label + ":\n" + t.Target + "\n\n")
		body.WriteString(`<p><a href="` + e(t.Target) + `"` + link + `>` + e(t.Label) + `</a></p>`)
	}
	say(t.After)
	var foot []string
	if l.Support != "" {
		foot = append(foot, "Help: "+l.Support)
	}
	if l.PoweredBy != "" {
		foot = append(foot, l.Name+" is powered by "+l.PoweredBy)
	}
	if len(foot) > 0 {
		say([]string{strings.Join(foot, ". ") + "."})
	}
	m.Text = strings.TrimSuffix(text.String(), "\n")
	m.HTML = `<!doctype html><html><body style="` + style + `">` + body.String() + "</body></html>\n"
}
