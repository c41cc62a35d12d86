package httpx

import (
	"context"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/limits"
)

// unverifiedRule limits the requests of one address to one route whose token or signature is invalid: 600 a minute. A
// mail provider and an office have one address for many people, so that requests with a valid one must not count.
var unverifiedRule = limits.Rule{PerMinute: 600, Burst: 600}

// Unverified reports that the token or the signature of the request is invalid. Call it in the handler of a Signed
// operation, after the token or the signature was checked and before anything is done for the request. Once the
// address has exceeded its limit, the client gets 429 in place of the handler's response.
func Unverified(ctx context.Context) { RequestOf(ctx).unverified = true }

// countUnverified counts the request against its address if it is unverified. It returns a fault if the address has
// exceeded its limit.
func (s *Server) countUnverified(ctx context.Context, r *Request) error {
	if !r.unverified || !r.Op.Signed || s.Limits == nil {
		return nil
	}

	d := s.Limits.Take(ctx, "unverified "+r.Op.Path+" "+AddressBlock(r.IP), unverifiedRule)
	if d.Allowed {
		return nil
	}

	return &fault.Fault{
		Code: fault.RateLimited,
		Detail: "Too many requests with an invalid token or signature from this address. Wait as long as Retry-After " +
			"says. Requests with a valid one are not limited.",
		RetryAfter: d.RetryAfter(),
	}
}

// failUnverified responds with err to a request that was refused before its token or signature was checked, and counts
// it as unverified.
func (s *Server) failUnverified(c *fiber.Ctx, r *Request, err error) {
	if f := fault.Of(err); f != nil && f.Code.Status() < http.StatusInternalServerError {
		r.unverified = true
		if refused := s.countUnverified(c.UserContext(), r); refused != nil {
			err = refused
		}
	}
	s.sendProblem(c, err)
}

// countInvalid counts a request as unverified that was refused by its validation, so that the handler was not called.
func (s *Server) countInvalid(c *fiber.Ctx, r *Request) {
	status := c.Response().StatusCode()
	if status < http.StatusBadRequest || status >= http.StatusInternalServerError {
		return
	}
	r.unverified = true
	if refused := s.countUnverified(c.UserContext(), r); refused != nil {
		s.sendProblem(c, refused)
	}
}
