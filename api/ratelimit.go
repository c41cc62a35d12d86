package api

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/limits"
)

// ownQuota are the addresses outside the request bucket: they spend tokens instead.
var ownQuota = map[string]bool{
	"/api/v1/ai/draft-email": true, "/api/v1/ai/summarize-contact": true, "/api/v1/ai/next-action": true, "/api/v1/ai/classify-reply": true,
}

// limit counts a request with a valid credential against its org and says how much is left. A request that only
// reads need not wait for the decision: settle does, before anything is answered. What a refused one has read
// by then is thrown away, which costs little, since an org's next refusals come from memory.
func (a *App) limit(c *fiber.Ctx, r *request) error {
	if a.Limits == nil || r.who.Org.IsZero() || ownQuota[c.Path()] {
		return nil
	}
	rule := limits.Default
	if n := r.who.RatePerMinute; n > 0 {
		rule = limits.PerMinute(int64(n))
	}
	r.asked = a.Limits.Ask(r.who.Org.String(), rule)
	if m := c.Method(); m == fiber.MethodGet || m == fiber.MethodHead {
		return nil
	}
	return settle(c, r)
}

// settle waits for the decision about a request, if one is open.
func settle(c *fiber.Ctx, r *request) error {
	if r.asked == nil {
		return nil
	}
	d := r.asked.Wait()
	r.asked = nil
	d.Headers(time.Now(), c.Response().Header.Set)
	if d.Allowed {
		return nil
	}
	c.Response().Header.Del(fiber.HeaderETag)
	bound := "default"
	if d.ByWindow {
		bound = "burst"
	}
	return &fault.Fault{
		Code: fault.RateLimited, Detail: "This org has used up its rate. Wait as long as Retry-After says.", RetryAfter: d.RetryAfter(),
		More: map[string]any{"policy": bound},
	}
}
