package httpx

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/limits"
)

// ownQuota is the set of paths outside the request bucket. Their requests spend tokens instead.
var ownQuota = map[string]bool{
	"/api/v1/ai/draft-email": true, "/api/v1/ai/summarize-contact": true, "/api/v1/ai/next-action": true,
	"/api/v1/ai/classify-reply": true,
}

// limit counts a request with a valid credential against its org and sets the rate limit headers. A read does not wait
// for the decision: settle does, before the response is sent. The result of a refused read is discarded, which costs
// little, since the limiter refuses the org's next requests from memory.
func (s *Server) limit(c *fiber.Ctx, r *Request) error {
	if s.Limits == nil || r.Who.Org.IsZero() || ownQuota[c.Path()] {
		return nil
	}
	rule := limits.Default
	if n := r.Who.RatePerMinute; n > 0 {
		rule = limits.PerMinute(int64(n))
	}
	r.asked = s.Limits.Start(r.Who.Org.String(), rule)
	if m := c.Method(); m == fiber.MethodGet || m == fiber.MethodHead {
		return nil
	}
	return settle(c, r)
}

// settle waits for the pending rate limit decision of a request, if there is one.
func settle(c *fiber.Ctx, r *Request) error {
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
		Code: fault.RateLimited, Detail: "This org has exceeded its rate limit. Wait as long as Retry-After says.",
		RetryAfter: d.RetryAfter(),
		More:       map[string]any{"policy": bound},
	}
}
