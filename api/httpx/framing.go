package httpx

import (
	"errors"
	"net"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/framing"
)

// isRefusal reports whether the request is a placeholder for one refused for its framing. Nearly every target begins
// with a slash and is checked without further work.
func isRefusal(target []byte) bool {
	return len(target) > 0 && target[0] != '/' && framing.IsRefusal(string(target))
}

// refusalOf returns the reason why the connection's request was refused, or nil.
func refusalOf(c *fiber.Ctx) *fault.Fault {
	if l, ok := c.Context().Conn().(*conn); ok {
		return l.Refusal()
	}
	return nil
}

// bodyFault returns the fault for a body that could not be read to its end.
func bodyFault(err error, refusal *fault.Fault) error {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return fault.New(fault.RequestTimeout, "The request took too long to arrive.")
	}
	if refusal != nil {
		return refusal
	}
	return fault.New(fault.MalformedRequest, "The body ended early or has invalid framing.").Because(err)
}

// hasBody reports whether the request has a body.
func hasBody(c *fiber.Ctx) bool {
	n := c.Request().Header.ContentLength()
	return n > 0 || n == -1
}
