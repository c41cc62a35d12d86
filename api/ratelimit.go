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

// limit counts a request with a valid credential against its org and says how much is left.
func (a *App) limit(c *fiber.Ctx, r *request) error {
	if a.Limits == nil || r.who.Org.IsZero() || ownQuota[c.Path()] {
		return nil
	}
	rule := limits.Default
	if n := r.who.RatePerMinute; n > 0 {
		rule = limits.PerMinute(int64(n))
	}
	d := a.Limits.Take(c.UserContext(), r.who.Org.String(), rule)
	d.Headers(time.Now(), c.Response().Header.Set)
	if d.Allowed {
		return nil
	}
	bound := "default"
	if d.ByWindow {
		bound = "burst"
	}
	return &fault.Fault{
		Code: fault.RateLimited, Detail: "This org has used up its rate. Wait as long as Retry-After says.", RetryAfter: d.RetryAfter(),
		More: map[string]any{"policy": bound},
	}
}
