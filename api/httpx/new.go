package httpx

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"
	"github.com/gofiber/fiber/v2"
)

// New returns a Server without operations. Finish must be called after the last one was mounted.
func New(c Config) *Server {
	HookHuma()
	if c.Contract == nil {
		c.Contract = newContract(c)
	}

	s := &Server{Config: c, Huma: c.Contract.api}
	s.Fiber = fiber.New(fiber.Config{
		// Handlers may keep strings of a request; without Immutable, Fiber reuses their memory.
		Immutable:                    true,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
		ReadBufferSize:               headerBytes,
		StreamRequestBody:            true, // each route reads its body after the guard, up to its limit
		DisablePreParseMultipartForm: true,
		CaseSensitive:                true,
		StrictRouting:                true,
		UnescapePath:                 true,
		DisableStartupMessage:        true,
		ErrorHandler:                 s.refuseUnread,
	})
	s.adapter = humafiber.New(s.Fiber, huma.Config{}).Adapter()
	s.Fiber.Use(s.wrapRequest, s.allowOrigins, s.guardUnmatched)

	return s
}
