package branding

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
)

// Page is what one page says. Everything around it is the brand's.
type Page struct {
	Title  string
	Body   template.HTML // made by a template of ours
	Script string        // "" for none
}

// layout is the one frame of all pages. It names nothing but what Shown does.
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
{{if or .Support .PoweredBy}}<footer>{{with .Support}}<p>Help: <a href="mailto:{{.}}">{{.}}</a></p>{{end}}{{with .PoweredBy}}<p>Powered by {{.}}</p>{{end}}</footer>
{{end}}{{with .Script}}<script>{{.}}</script>
{{end}}</body>
</html>
`))

const sheet = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: var(--brand-text); background: var(--brand-background); }
header { font-size: 1.25rem; font-weight: 600; border-bottom: 3px solid var(--brand-primary); padding-bottom: .5rem; }
header img { max-height: 3rem; max-width: 16rem; }
a { color: var(--brand-text); text-decoration: underline; text-decoration-color: var(--brand-accent); text-decoration-thickness: 2px; }
form { max-width: 22rem; }
label { display: block; margin: 1rem 0; }
input { display: block; box-sizing: border-box; width: 100%; padding: .5rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--brand-text); border-radius: 4px; }
button { padding: .5rem 1rem; font: inherit; color: var(--brand-on-primary); background: var(--brand-primary); border: 0; border-radius: 4px; }
:focus-visible { outline: 3px solid var(--brand-accent); outline-offset: 2px; }
pre { border: 1px solid var(--brand-text); padding: 1rem; overflow-x: auto; border-radius: 4px; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--brand-text); padding: .35rem .5rem; text-align: left; vertical-align: top; }
footer { margin-top: 3rem; font-size: .875rem; }
[hidden] { display: none; }
`

// Style is the brand as custom properties. A Palette has nothing but colours, so nothing else can get into it.
func (p Palette) Style() string {
	return fmt.Sprintf(":root { --brand-primary: %s; --brand-on-primary: %s; --brand-accent: %s; --brand-on-accent: %s; --brand-background: %s; --brand-text: %s; }",
		p.Primary, p.Primary.On(), p.Accent, p.Accent.On(), p.Background, p.Text)
}

// Render is the page in the brand's looks, and the Content-Security-Policy that it is to be served under: its own style and
// script by their hashes, pictures and requests of its own host, and nothing else.
func (s *Shown) Render(p Page) (page []byte, policy string, err error) {
	style := s.Colors.Style() + sheet
	var logo string
	if s.Logo.Digest != "" {
		logo = s.Logo.Path()
	}
	var out bytes.Buffer
	err = layout.Execute(&out, map[string]any{
		"Title": p.Title, "Name": s.Name, "Logo": logo, "Support": s.SupportEmail, "PoweredBy": s.PoweredBy(), "Body": p.Body,
		"Style": template.CSS(style), "Script": template.JS(p.Script), //nolint:gosec // both are ours; the colours in the style are validated
	})
	if err != nil {
		return nil, "", fmt.Errorf("render page: %w", err)
	}
	policy = "default-src 'none'; style-src " + hashOf(style) + "; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action "
	if p.Script == "" {
		return out.Bytes(), policy + "'none'", nil
	}
	return out.Bytes(), policy + "'self'; script-src " + hashOf(p.Script) + "; connect-src 'self'", nil
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
