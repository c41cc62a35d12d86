package pages

import (
	"context"
	"html/template"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
)

// Pages serves the pages and the API document.
type Pages struct {
	*httpx.Server
	brands   *branding.Resolver
	document func() []byte // encodes the API document once
}

// New returns the Pages of a server. Mount and MountDocs mount them.
func New(s *httpx.Server, brands *branding.Resolver) *Pages { return &Pages{Server: s, brands: brands} }

// pageOf returns a handler for one page in the brand of the host: own reports whether that is one of the platform's. It
// is rate limited by address as a public route is. Query parameters are ignored, since links of mails and campaigns
// carry some.
func (p *Pages) pageOf(choose func(own bool) (branding.Page, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		home, err := p.admitPage(c)
		if err != nil {
			return err
		}

		one, err := choose(home.IsZero())
		if err != nil {
			return err
		}

		shown := p.BrandOf(c.UserContext(), home)
		body, policy, err := shown.Render(one)
		if err != nil {
			return err
		}

		c.Set("Content-Type", "text/html; charset=utf-8")
		c.Set("Content-Security-Policy", policy)
		c.Set("Cache-Control", "no-cache") // the brand may change at any time

		return c.Send(body)
	}
}

// admitPage counts a request for a page against its address's limit, and returns the org of the host: zero for one of
// the platform's own hosts.
func (p *Pages) admitPage(c *fiber.Ctx) (id.ID, error) {
	r := httpx.RequestOf(c.UserContext())
	r.Op = &httpx.Op{Method: http.MethodGet, Path: c.Route().Path}
	r.IP = p.ClientIP(c)
	if err := p.LimitAddress(c, r); err != nil {
		return id.ID{}, err
	}
	return p.Tenant(c.UserContext())
}

// BrandAt returns the brand of the request's host. It returns fault.Misdirected for an unknown host.
func (p *Pages) BrandAt(ctx context.Context) (branding.Shown, error) {
	home, err := p.Tenant(ctx)
	if err != nil {
		return branding.Nobody, err
	}
	return p.BrandOf(ctx, home), nil
}

// BrandOf returns the brand of org's pages. If it cannot be read, the page is neutral: it works without any name, and
// hidden names stay hidden.
func (p *Pages) BrandOf(ctx context.Context, org id.ID) branding.Shown {
	shown, err := p.brands.Of(ctx, org)
	if err != nil {
		p.Log.WarnContext(ctx, "reading the brand of a page failed", "org_id", org.String(), "error", err)
		return branding.Nobody
	}
	return shown
}

// Message returns a page with a title and a sentence. They must be constants, since they are not escaped.
func Message(title, text string) branding.Page {
	return branding.Page{
		Title: title,
		Body:  template.HTML("<h1>" + title + "</h1>\n<p>" + text + "</p>\n"), //nolint:gosec // constants
	}
}
