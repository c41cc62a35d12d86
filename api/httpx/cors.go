package httpx

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// Methods and headers that browsers of allowed origins may send, and headers that they may read.
const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	corsHeaders = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, " +
		"X-Request-Id, traceparent"
	corsExposed = "ETag, Location, Retry-After, Idempotent-Replayed, X-Request-Id, RateLimit, RateLimit-Policy, " +
		"X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset"
)

// allowOrigins allows requests from the listed origins. Tokens travel in a header that no browser adds by itself, so
// credentials are never allowed, and a listed origin gains nothing from a visitor's cookies.
func (s *Server) allowOrigins(c *fiber.Ctx) error {
	if len(s.CORSOrigins) == 0 {
		return c.Next()
	}

	c.Response().Header.Add("Vary", "Origin")
	origin := c.Get("Origin")
	if origin == "" || !slices.Contains(s.CORSOrigins, strings.TrimSuffix(origin, "/")) {
		return c.Next()
	}

	c.Set("Access-Control-Allow-Origin", origin)
	if c.Method() != http.MethodOptions || c.Get("Access-Control-Request-Method") == "" {
		c.Set("Access-Control-Expose-Headers", corsExposed)
		return c.Next()
	}

	c.Set("Access-Control-Allow-Methods", corsMethods)
	c.Set("Access-Control-Allow-Headers", corsHeaders)
	c.Set("Access-Control-Max-Age", "600")
	c.Status(http.StatusNoContent)

	return nil
}
