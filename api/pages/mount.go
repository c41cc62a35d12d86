package pages

import (
	_ "embed" // the pages' bodies
	"html/template"

	"github.com/funnelwork/funnelwork/internal/branding"
)

// The login page. Its script calls the login API and keeps the tokens in this tab only, for pages of this host. It sets
// no cookie. Without the script the form does nothing.
var (
	//go:embed docs/login.html
	loginBody string
	//go:embed docs/login.js
	loginScript string
)

// Mount serves the branded pages. Each page shows the brand of the request's host.
func (p *Pages) Mount() {
	p.Fiber.Get("/login", p.page(branding.Page{
		Title:  "Sign in",
		Body:   template.HTML(loginBody), //nolint:gosec // an embedded file
		Script: loginScript,
	}))
	p.Fiber.Get("/docs/webhooks", p.page(branding.Page{Title: "Webhooks", Body: webhooksPage()}))
	p.mountGuides()
}
