package httpx

import (
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
)

// AuthPrefix begins the path of every operation on logins, tokens and passwords.
const AuthPrefix = "/api/v1/auth/"

// guardUnmatched authenticates and rate limits requests which no route matched, if they carry a credential. For matched
// routes, admitRequest does so with the operation's requirements.
func (s *Server) guardUnmatched(c *fiber.Ctx) error {
	err := c.Next()
	if err == nil {
		return nil
	}

	r := RequestOf(c.UserContext())
	if r.Op == nil && c.Get("Authorization") != "" {
		if away := s.authenticate(c, r); away != nil {
			return away
		}
		if refused := s.startLimit(c, r); refused != nil {
			return refused
		}
	}

	return err
}

// admitRequest checks a request before its handler, in this order: credential, rate limit, rights, path and query,
// headers, body. It returns the body.
func (s *Server) admitRequest(c *fiber.Ctx, r *Request) ([]byte, error) {
	r.IP = s.ClientIP(c)
	if strings.HasPrefix(r.Op.Path, AuthPrefix) {
		r.agent = strings.Clone(c.Get("User-Agent"))
	}

	if r.Op.Need.Role == "" {
		if !r.Op.Signed {
			if err := s.LimitAddress(c, r); err != nil {
				return nil, err
			}
		}
		if r.Op.Console {
			if err := s.fromConsole(c, r); err != nil {
				return nil, err
			}
		}
		if err := s.checkConfigured(r.Op); err != nil {
			return nil, err
		}
	} else {
		if err := s.authenticate(c, r); err != nil {
			return nil, err
		}
		if err := s.startLimit(c, r); err != nil {
			return nil, err
		}
		if err := s.atHome(c.UserContext(), r); err != nil {
			return nil, err
		}
		if r.Who.Closed == auth.Suspended && !strings.HasPrefix(r.Op.Path, AuthPrefix) {
			return nil, Suspended()
		}
		if err := r.Op.Need.checkCaller(r); err != nil {
			return nil, err
		}
		if err := s.mayWrite(c, r); err != nil {
			return nil, err
		}
		if err := s.checkConfigured(r.Op); err != nil {
			return nil, err
		}
		if r.Op.Feature != "" {
			if err := s.Plans.Need(c.UserContext(), r.Who.Org, r.Op.Feature); err != nil {
				return nil, err
			}
		}
	}
	if err := checkAddress(c, r); err != nil {
		return nil, err
	}
	if err := idempotencyKey(c, r); err != nil {
		return nil, err
	}

	body, err := checkedBody(c, r)
	if err != nil {
		return nil, err
	}

	setFingerprint(c, r, body)

	return body, nil
}

// authenticate identifies the caller. It stores the error of an invalid credential in r.refused and returns nil, since
// only operations that need a credential must fail.
func (s *Server) authenticate(c *fiber.Ctx, r *Request) error {
	scheme, token, ok := strings.Cut(c.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return nil
	}

	w, err := s.Auth.Verify(c.UserContext(), strings.TrimLeft(token, " "))
	if err != nil {
		if f := fault.Of(err); f == nil || f.Code.Status() != fiber.StatusUnauthorized {
			return err
		}
		r.refused = err
		return nil
	}

	r.Who = w
	kind, ident := w.Actor()
	c.SetUserContext(events.WithOrigin(WithOrg(c.UserContext(), w.Org),
		events.Origin{ActorType: kind, ActorID: ident, RequestID: r.ID}))

	return nil
}

// Suspended returns the fault of calls to an org that an operator has suspended. Callers may still sign out and switch
// to another org.
func Suspended() *fault.Fault {
	return fault.New(fault.OrgSuspended, "The operator of this service has suspended this organization. Its data is "+
		"kept, and what was under way waits. Contact the operator.")
}

// mayWrite refuses to change a read-only org: its trial has ended, or its agency has paused it. Before it refuses, it
// reads the org's state again without the cache, so that an org that has just paid may write at once.
func (s *Server) mayWrite(c *fiber.Ctx, r *Request) error {
	if r.Who.Closed == auth.Open || r.Op.Open || c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead ||
		strings.HasPrefix(r.Op.Path, "/billing/") {
		return nil
	}

	_, token, _ := strings.Cut(c.Get("Authorization"), " ")
	w, err := s.Auth.Again(c.UserContext(), strings.TrimLeft(token, " "))
	if err != nil {
		return err
	}

	switch r.Who = w; w.Closed {
	case auth.TrialEnded:
		return &fault.Fault{
			Code:   fault.TrialEnded,
			Detail: "The trial has ended. Everything can be read and exported; choose a plan to go on writing.",
			More:   map[string]any{"upgrade_to": s.Plans.Next()},
		}
	case auth.Paused:
		return fault.New(fault.OrgPaused,
			"The agency has paused this organization. Everything can be read; nothing can be changed.")
	default:
		return nil
	}
}

// checkCaller returns an error unless the principal meets the operation's requirements.
func (need access) checkCaller(r *Request) error {
	switch {
	case r.Who.Org.IsZero() && r.refused != nil:
		return r.refused
	case r.Who.Org.IsZero():
		return fault.New(fault.Unauthorized, "This needs an access token or an API key: Authorization: Bearer <token>.")
	case need.NoKeys && r.Who.IsKey():
		return fault.New(fault.Forbidden, "API keys may not do this. A user with the role can.")
	case need.noStaff && !r.Who.Staff.IsZero():
		return fault.New(fault.Forbidden,
			"An agency's staff may not do this. The organization's own users can.")
	case !r.Who.Role.Includes(need.Role):
		return fault.Newf(fault.Forbidden, "This needs the role %s or one above it.", need.Role)
	}
	return nil
}

// HasPart reports whether the install has the part.
func (s *Server) HasPart(p Part) bool { return !slices.Contains(s.NotConfigured, p) }

// checkConfigured returns the fault not_configured if the install lacks the part that an operation needs.
func (s *Server) checkConfigured(o *Op) error {
	if o.Part == "" || s.HasPart(o.Part) {
		return nil
	}
	return NotConfigured(o.Part)
}
