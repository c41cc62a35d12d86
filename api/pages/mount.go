package pages

import (
	"sync"

	"github.com/funnelwork/funnelwork/internal/branding"
)

// Mount serves the branded pages. Each page shows the brand of the request's host.
func (p *Pages) Mount() {
	p.mountRoot()
	webhooks := sync.OnceValue(func() branding.Page { return branding.Page{Title: "Webhooks", Body: webhooksPage()} })
	p.Fiber.Get("/docs/webhooks", p.pageOf(func(bool) (branding.Page, error) { return webhooks(), nil }))
	p.mountGuides()
	p.mountErrors()
}
