package httpx

import (
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"
	"github.com/gofiber/fiber/v2"
)

// New returns a Server without operations. Finish must be called after the last one was mounted.
func New(c Config) *Server {
	HookHuma()
	s := &Server{Config: c}
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
		ErrorHandler:                 s.refuse,
	})
	s.Huma = humafiber.New(s.Fiber, humaConfig(c))
	s.Fiber.Use(s.envelope, s.cors, s.guard)
	return s
}
