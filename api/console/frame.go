package console

import (
	"bytes"
	_ "embed"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
)

// framePath is the page that shows the HTML of one mail. The screens put it into a frame and post the HTML to it.
const framePath = Base + "/frame"

// framePage has the script that builds the mail from its HTML.
//
//go:embed frame/frame.html
var framePage []byte

// framePolicy permits one script, the styles within a mail, and pictures that the mail itself holds. The page has an
// origin of its own, makes no request and cannot leave its frame; a link opens in a new tab. The hash of the script
// follows.
const framePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; " +
	"script-src "

// frame is the page with the policy to serve it with.
type frame struct {
	body        *httpx.Fixed
	tag, policy string
}

func newFrame(page []byte) frame {
	_, rest, begun := bytes.Cut(page, []byte("<script>"))
	script, _, ended := bytes.Cut(rest, []byte("</script>"))
	if !begun || !ended {
		panic("the console's frame.html lacks its script") // a test reads the same file
	}
	return frame{httpx.NewFixed(func() []byte { return page }), tagOf(page), framePolicy + hashOf(string(script))}
}

// sendFrame sends the page that shows mails. It has no brand and needs no session: it holds nothing.
func (c *Console) sendFrame(ctx *fiber.Ctx) error {
	r := httpx.RequestOf(ctx.UserContext())
	r.Op = &httpx.Op{Method: http.MethodGet, Path: framePath}
	r.Fixed = c.frame.body
	ctx.Set("Content-Type", "text/html; charset=utf-8")
	ctx.Set("Content-Security-Policy", c.frame.policy)
	ctx.Set("Referrer-Policy", "no-referrer")
	ctx.Set("X-DNS-Prefetch-Control", "off")
	ctx.Set("Cache-Control", "no-cache")
	ctx.Set("ETag", c.frame.tag)
	return ctx.Send(c.frame.body.Plain())
}
