package api

import (
	"context"
	_ "embed" // the pages' bodies
	"html/template"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// The login page. Its script calls the login API and keeps the tokens in this tab only, for pages of this host. It sets
// no cookie. Without the script the form does nothing.
var (
	//go:embed docs/login.html
	loginBody string
	//go:embed docs/login.js
	loginScript string
)

// mountPages serves the branded pages. Each page shows the brand of the request's host.
func (a *App) mountPages() {
	a.Fiber.Get("/login", a.page(branding.Page{
		Title:  "Sign in",
		Body:   template.HTML(loginBody), //nolint:gosec // an embedded file
		Script: loginScript,
	}))
	a.Fiber.Get("/docs/webhooks", a.page(branding.Page{Title: "Webhooks", Body: webhooksPage()}))
	a.mountGuides()
}

// page returns a handler for p in the brand of the host. It is rate limited by address as a public route is.
func (a *App) page(p branding.Page) fiber.Handler {
	return a.pageOf(func(bool) (branding.Page, error) { return p, nil })
}

// pageOf is page with a page that depends on the host: own reports whether the host is one of the platform's.
func (a *App) pageOf(choose func(own bool) (branding.Page, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		r := httpx.RequestOf(c.UserContext())
		r.Op, r.IP = &httpx.Op{Method: http.MethodGet, Path: c.Route().Path}, a.ClientIP(c)
		if err := a.LimitAddress(c, r); err != nil {
			return err
		}
		if len(c.Request().URI().QueryString()) > 0 {
			return fault.New(fault.InvalidParameter, "This address takes no parameters.")
		}
		home, err := a.Tenant(c.UserContext())
		if err != nil {
			return err
		}
		p, err := choose(home.IsZero())
		if err != nil {
			return err
		}
		shown := a.looksOf(c.UserContext(), home)
		body, policy, err := shown.Render(p)
		if err != nil {
			return err
		}
		c.Set("Content-Type", "text/html; charset=utf-8")
		c.Set("Content-Security-Policy", policy)
		c.Set("Cache-Control", "no-cache") // the brand may change at any time
		return c.Send(body)
	}
}

// shownAt returns the brand of the request's host. It returns fault.Misdirected for an unknown host.
func (a *App) shownAt(ctx context.Context) (branding.Shown, error) {
	home, err := a.Tenant(ctx)
	if err != nil {
		return branding.Nobody, err
	}
	return a.looksOf(ctx, home), nil
}

// looksOf returns the brand of org's pages. If it cannot be read, the page is neutral: it works without any name, and
// hidden names stay hidden.
func (a *App) looksOf(ctx context.Context, org id.ID) branding.Shown {
	shown, err := a.Brands.Of(ctx, org)
	if err != nil {
		a.Log.WarnContext(ctx, "reading the brand of a page failed", "org_id", org.String(), "error", err)
		return branding.Nobody
	}
	return shown
}

// wordsPage returns a page with a title and a sentence. They must be constants, since they are not escaped.
func wordsPage(title, text string) branding.Page {
	return branding.Page{
		Title: title,
		Body:  template.HTML("<h1>" + title + "</h1>\n<p>" + text + "</p>\n"), //nolint:gosec // constants
	}
}
