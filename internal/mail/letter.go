package mail

import (
	"html"
	"strings"
)

// Letter is what a mail says, before it is known in whose name. Its texts may hold marked places for the name (named).
type Letter struct {
	Subject string   `json:"subject"`
	Before  []string `json:"before"` // paragraphs
	Label   string   `json:"label,omitempty"`
	Target  string   `json:"target,omitempty"`
	After   []string `json:"after,omitempty"`
}

// Look is in whose name a mail speaks, and how it looks. Colours are #rrggbb, and validated.
type Look struct {
	Name                                 string // "" names nobody
	PoweredBy                            string // "" for nobody beside
	Support                              string // an address; "" for none
	Logo                                 string // the URL of a raster; "" for none
	Primary, OnPrimary, Background, Text string
}

// platform is the look of a mail of nobody else's.
var platform = Look{Name: "Funnelwork"}

// The marks around a place for the name: what stands there with one, % for the name, and what without.
const (
	markBegin, markElse, markEnd = "\ue000", "\ue001", "\ue002"
)

// named marks a place.
func named(with, without string) string { return markBegin + with + markElse + without + markEnd }

// fill puts the name where its places are.
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

// Dress writes m's letter anew in a look, and the sender's name with it; the address stays the platform's. A mail that was
// stored without its letter stays as it is.
func (m *Message) Dress(l Look) {
	if m.Letter == nil {
		return
	}
	m.write(l)
	m.dressed, m.from = true, oneLine(l.Name)
}

func (m *Message) write(l Look) {
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
		link = ` style="display:inline-block;padding:8px 16px;border-radius:4px;text-decoration:none;color:` + l.OnPrimary + ";background:" + l.Primary + `"`
	}
	if l.Logo != "" {
		body.WriteString(`<p><img src="` + e(l.Logo) + `" alt="` + e(l.Name) + `" style="max-height:48px;max-width:240px"></p>`)
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
