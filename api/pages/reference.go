package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/swaggest/swgui/v5/static"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/branding"
)

// docsCSP lets the reference page load its own files and the document, but nothing from other origins.
const docsCSP = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

const docsPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<p><a href="/docs/guides/">Guides</a></p>
<p><a href="/docs/webhooks">Webhooks: how to verify them, and every type of event</a></p>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

// docsStart sends requests to the page's own host, since the policy allows no other.
const docsStart = `SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#reference', deepLinking: true, docExpansion: 'none', tryItOutEnabled: true,
  requestInterceptor: (request) => {
    const to = new URL(request.url, location.href)
    request.url = location.origin + to.pathname + to.search
    return request
  },
})
`

// MountDocs serves the API document and the reference page. It must be called last: the document is complete then. It
// is encoded when it is first asked for, since that costs as much as all the rest of a start.
func (p *Pages) MountDocs() {
	p.completeDocument()
	own := httpx.NewFixed(func() []byte { return encodeDocument(p.ownDocument()) })
	p.document = own.Plain
	tag := sync.OnceValue(func() string {
		sum := sha256.Sum256(own.Plain())
		return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	})
	titled := cacheByTitle(func(title string) []byte { return encodeDocument(p.neutralDocument(title)) })
	p.Fiber.Get("/openapi.json", p.serveFixed("application/json", func(c *fiber.Ctx) *httpx.Fixed {
		c.Set("Cache-Control", "no-cache")
		// Served under any host. The document names the platform only on a host that is known to show the platform.
		shown, _ := p.BrandAt(c.UserContext())
		if shown.Name == branding.PlatformName {
			c.Set("ETag", tag())
			return own
		}
		return titled(referenceTitle(shown))
	}))
	page := cacheByTitle(func(title string) []byte { return fmt.Appendf(nil, docsPage, html.EscapeString(title)) })
	p.Fiber.Get("/docs", p.serveFixed("text/html; charset=utf-8", func(c *fiber.Ctx) *httpx.Fixed {
		c.Set("Cache-Control", "no-cache") // the brand's name may change at any time
		shown, _ := p.BrandAt(c.UserContext())
		return page(referenceTitle(shown))
	}))
	start := httpx.NewFixed(func() []byte { return []byte(docsStart) })
	p.Fiber.Get(
		"/docs/start.js",
		p.serveFixed("text/javascript; charset=utf-8", func(*fiber.Ctx) *httpx.Fixed { return start }),
	)

	for name, kind := range map[string]string{
		"swagger-ui.css": "text/css; charset=utf-8", "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
		"favicon-32x32.png": "image/png",
	} {
		content := readAsset(name)
		p.Fiber.Get("/docs/"+name, p.serveFixed(kind, func(*fiber.Ctx) *httpx.Fixed { return content }))
	}
}

// mostBranded is the number of titles for which a page is cached.
const mostBranded = 64

// cacheByTitle returns a function that caches the result of write per title.
func cacheByTitle(write func(title string) []byte) func(title string) *httpx.Fixed {
	var mu sync.Mutex
	known := map[string]*httpx.Fixed{}
	return func(title string) *httpx.Fixed {
		mu.Lock()
		defer mu.Unlock()

		k := known[title]
		if k == nil {
			if len(known) >= mostBranded {
				clear(known)
			}
			k = httpx.NewFixed(func() []byte { return write(title) })
			known[title] = k
		}

		return k
	}
}

// referenceTitle returns the title of the reference page.
func referenceTitle(shown branding.Shown) string { return strings.TrimSpace(shown.Name + " API") }

// serveFixed returns a handler that serves what find returns. It is rate limited by address as a public route is, and
// browsers may cache the response. Query parameters are ignored, as on every page.
func (p *Pages) serveFixed(kind string, find func(*fiber.Ctx) *httpx.Fixed) fiber.Handler {
	public := &httpx.Op{Method: http.MethodGet, Path: "/docs"}
	return func(c *fiber.Ctx) error {
		r := httpx.RequestOf(c.UserContext())
		r.Op = public
		r.IP = p.ClientIP(c)
		if err := p.LimitAddress(c, r); err != nil {
			return err
		}
		c.Set("Cache-Control", "public, max-age=300")
		r.Fixed = find(c)
		c.Set("Content-Type", kind)
		c.Set("Content-Security-Policy", docsCSP)
		return c.Send(r.Fixed.Plain())
	}
}

// readAsset returns one embedded file. Some files are stored compressed.
func readAsset(name string) *httpx.Fixed {
	if b, err := static.FS.ReadFile(name); err == nil {
		return httpx.NewFixed(func() []byte { return b })
	}

	packed, err := static.FS.ReadFile(name + ".gz")
	if err != nil {
		panic(fmt.Errorf("asset %s: %w", name, err)) // the module has no such file
	}

	k := httpx.NewFixed(func() []byte {
		unpack, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			panic(fmt.Errorf("asset %s: %w", name, err))
		}
		plain, err := io.ReadAll(unpack)
		if err != nil {
			panic(fmt.Errorf("asset %s: %w", name, err))
		}
		return plain
	})
	k.Gzip = func() []byte { return packed }

	return k
}
