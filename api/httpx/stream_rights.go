package httpx

import (
	"context"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
)

// How often the rights of a stream's caller are checked, and how long a stream may go on if they cannot be read. The
// role cache adds half a second to the former, and the end of the session takes effect within a second.
const (
	rightsEvery   = 200 * time.Millisecond
	rightsUnknown = 10 * time.Second
)

// rightsCheck returns a function that returns an error unless the request's credential is still valid, its session has
// not ended, and its role is the one the stream began with. A client that reconnects after a change of its role reads
// its rights anew.
func (s *Server) rightsCheck(c *fiber.Ctx, r *Request) func(context.Context) error {
	_, bearer, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	bearer = strings.TrimLeft(bearer, " ")
	need := r.Op.Need
	role := r.Who.Role

	return func(ctx context.Context) error {
		w, err := s.Auth.Verify(ctx, bearer)
		if err != nil {
			return err
		}
		if w.Closed == auth.Suspended {
			return Suspended()
		}
		if w.Role != role {
			return fault.New(fault.Forbidden, "the role has changed")
		}

		return need.checkCaller(&Request{Who: w})
	}
}

// watchRights returns when the caller's rights have ended, cannot be read for rightsUnknown, or ctx has ended.
func (s *Server) watchRights(ctx context.Context, allowed func(context.Context) error) {
	tick := time.NewTicker(rightsEvery)
	defer tick.Stop()

	for known := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		switch err := allowed(ctx); {
		case err == nil:
			known = time.Now()
		case fault.Of(err) != nil, time.Since(known) > rightsUnknown:
			return
		}
	}
}
