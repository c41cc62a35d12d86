package httpx

import (
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/requestlog"
)

// recordRequest adds the request to its org's request log. A request without a valid credential is of no org. What the
// web console reads is left out, since it would hide the requests of integrations.
func (s *Server) recordRequest(c *fiber.Ctx, r *Request, began time.Time, took time.Duration) {
	status := c.Response().StatusCode()
	if s.Requests == nil || r.Who.Org.IsZero() || isConsoleRead(c, r, status) {
		return
	}

	e := &requestlog.Entry{
		Org: r.Who.Org, At: began, RequestID: r.ID, Method: strings.Clone(c.Method()), Status: status, Took: took,
		Key: r.Who.Key, User: r.Who.User,
	}
	if r.Op != nil {
		e.Route = r.Op.Path
	}
	if status >= http.StatusBadRequest {
		describeFailure(c, r, e)
	}

	s.Requests.Add(e)
}

// isConsoleRead reports whether the request is a successful read by the web console.
func isConsoleRead(c *fiber.Ctx, r *Request, status int) bool {
	read := c.Method() == http.MethodGet || c.Method() == http.MethodHead
	return read && r.Who.Client == auth.Console && status < http.StatusBadRequest
}

// describeFailure adds to e what was wrong with the request.
func describeFailure(c *fiber.Ctx, r *Request, e *requestlog.Entry) {
	if r.problem == nil || r.problem.Status != e.Status {
		return
	}

	e.Code = string(r.problem.Code)
	var faulty []string
	errors := make([]requestlog.LoggedError, 0, len(r.problem.Errors))
	for _, f := range r.problem.Errors {
		errors = append(errors, requestlog.LoggedError{Pointer: f.Pointer, Parameter: f.Parameter, Code: f.Code})
		// What a member is for that does not exist is unknown: its value may be a secret.
		if f.Pointer != "" && f.Code != "unknown_field" {
			faulty = append(faulty, f.Pointer)
		}
	}

	if len(errors) > 0 {
		e.Errors = requestlog.EncodeErrors(errors)
	}
	if keepsBody(r.Op) {
		e.Body = requestlog.Redact(r.body, faulty)
	}
	if subject, err := id.Parse(c.Params("id")); err == nil && (e.Body != nil || e.Errors != nil) {
		e.Subject = subject
	}
}

// keepsBody reports whether part of the operation's body may be kept.
func keepsBody(o *Op) bool {
	return o != nil && o.TakesJSON && !strings.HasPrefix(o.Path, AuthPrefix)
}
