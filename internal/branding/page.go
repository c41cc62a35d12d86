package branding

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
)

// Page is the content of one page. The brand provides the frame.
type Page struct {
	Title  string
	Body   template.HTML // rendered by a trusted template
	Script string        // "": none
	Form   bool          // the page has a form that is sent to its own host
}

// layout is the frame of all pages. It names only what Shown contains.
var layout = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}{{with .Name}} - {{.}}{{end}}</title>
<style>{{.Style}}</style>
</head>
<body>
{{if .Logo}}<header><img src="{{.Logo}}" alt="{{.Name}}"></header>
{{else if .Name}}<header>{{.Name}}</header>
{{end}}<main>
{{.Body}}</main>
{{if or .Support .PoweredBy}}<footer>{{with .Support}}<p>Help: <a href="mailto:{{.}}">{{.}}</a></p>{{end -}}
{{with .PoweredBy}}<p>Powered by {{.}}</p>{{end}}</footer>
{{end}}{{with .Script}}<script>{{.}}</script>
{{end}}</body>
</html>
`))

const sheet = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--brand-text); background: var(--brand-background); }
header { font-size: 1.25rem; font-weight: 600; border-bottom: 3px solid var(--brand-primary); padding-bottom: .5rem; }
header img { max-height: 3rem; max-width: 16rem; }
a { color: var(--brand-text); text-decoration: underline; text-decoration-color: var(--brand-accent);
  text-decoration-thickness: 2px; }
form { max-width: 22rem; }
label { display: block; margin: 1rem 0; }
input { display: block; box-sizing: border-box; width: 100%; padding: .5rem; font: inherit; color: inherit;
  background: transparent; border: 1px solid var(--brand-text); border-radius: 4px; }
input[type=radio] { display: inline-block; width: auto; }
button { padding: .5rem 1rem; font: inherit; color: var(--brand-on-primary); background: var(--brand-primary);
  border: 0; border-radius: 4px; }
:focus-visible { outline: 3px solid var(--brand-accent); outline-offset: 2px; }
pre { border: 1px solid var(--brand-text); padding: 1rem; overflow-x: auto; border-radius: 4px; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--brand-text); padding: .35rem .5rem; text-align: left; vertical-align: top; }
footer { margin-top: 3rem; font-size: .875rem; }
[hidden] { display: none; }
`

// Style returns the palette as CSS custom properties. A Palette contains only colours, so injection is impossible.
func (p Palette) Style() string {
	return fmt.Sprintf(":root { --brand-primary: %s; --brand-on-primary: %s; --brand-accent: %s; "+
		"--brand-on-accent: %s; --brand-background: %s; --brand-text: %s; }",
		p.Primary, p.Primary.On(), p.Accent, p.Accent.On(), p.Background, p.Text)
}

// Render returns the page in the brand's look, and the Content-Security-Policy to serve it with: the page's style and
// script by their hashes, images and requests from its own host, and nothing else.
func (s *Shown) Render(p Page) (page []byte, policy string, err error) {
	style := s.Colors.Style() + sheet
	var logo string
	if s.Logo.Digest != "" {
		logo = s.Logo.Path()
	}

	var out bytes.Buffer
	err = layout.Execute(&out, map[string]any{
		"Title": p.Title, "Name": s.Name, "Logo": logo, "Support": s.SupportEmail, "PoweredBy": s.PoweredBy(),
		"Body":   p.Body,
		"Style":  template.CSS(style),   //nolint:gosec // ours, with validated colours
		"Script": template.JS(p.Script), //nolint:gosec // ours
	})
	if err != nil {
		return nil, "", fmt.Errorf("render page: %w", err)
	}

	policy = "default-src 'none'; style-src " + hashOf(style) +
		"; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action "
	switch {
	case p.Script == "" && p.Form:
		return out.Bytes(), policy + "'self'", nil
	case p.Script == "":
		return out.Bytes(), policy + "'none'", nil
	}

	return out.Bytes(), policy + "'self'; script-src " + hashOf(p.Script) + "; connect-src 'self'", nil
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
