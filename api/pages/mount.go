package pages

import "github.com/funnelwork/funnelwork/internal/branding"

// Mount serves the branded pages. Each page shows the brand of the request's host.
func (p *Pages) Mount() {
	p.mountRoot()
	p.Fiber.Get("/docs/webhooks", p.page(branding.Page{Title: "Webhooks", Body: webhooksPage()}))
	p.mountGuides()
}
