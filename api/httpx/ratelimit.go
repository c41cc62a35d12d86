package httpx

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/limits"
)

// ownQuota is the set of paths outside the request bucket. Their requests spend tokens instead.
var ownQuota = map[string]bool{
	"/api/v1/ai/draft-email": true, "/api/v1/ai/summarize-contact": true, "/api/v1/ai/next-action": true,
	"/api/v1/ai/classify-reply": true,
}

// perConsoleUser limits the console's requests of one user in one org: 300 a minute, at once or spread. They do
// not count against the org, so that its screens and its integrations do not starve each other.
var perConsoleUser = limits.Rule{PerMinute: 300, Burst: 300}

// bucketOf returns the subject and the rule of the rate limit for a principal's requests.
func bucketOf(w auth.Who) (subject string, rule limits.Rule) {
	switch {
	case w.Client == auth.Console:
		return "console " + w.Org.String() + " " + w.User.String(), perConsoleUser
	case w.RatePerMinute > 0:
		return w.Org.String(), limits.PerMinute(int64(w.RatePerMinute))
	default:
		return w.Org.String(), limits.Default
	}
}

// startLimit counts a request with a valid credential in its bucket and sets the rate limit headers. A read does not
// wait for the decision: awaitLimit does, before the response is sent. The result of a refused read is discarded, which
// costs little, since the limiter refuses the org's next requests from memory.
func (s *Server) startLimit(c *fiber.Ctx, r *Request) error {
	if s.Limits == nil || r.Who.Org.IsZero() || ownQuota[c.Path()] {
		return nil
	}
	r.asked = s.Limits.Start(bucketOf(r.Who))
	if m := c.Method(); m == fiber.MethodGet || m == fiber.MethodHead {
		return nil
	}
	return awaitLimit(c, r)
}

// awaitLimit waits for the pending rate limit decision of a request, if there is one.
func awaitLimit(c *fiber.Ctx, r *Request) error {
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

	detail := "This org has exceeded its rate limit. Wait as long as Retry-After says."
	if r.Who.Client == auth.Console {
		detail = "The console has made too many requests within a short time. Try again shortly."
	}

	return &fault.Fault{
		Code: fault.RateLimited, Detail: detail,
		RetryAfter: d.RetryAfter(),
		More:       map[string]any{"policy": bound},
	}
}
