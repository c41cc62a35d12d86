// Package api is the front door: HTTP in; rows, events and jobs written; JSON out.
package api

import (
	"log/slog"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Deps are what main hands to the API.
type Deps struct {
	DB     *postgres.DB // App role; its commits push jobs
	System *postgres.DB // System role: logins and nothing else
	Log    *slog.Logger
}

// App is the API with all its routes mounted.
type App struct {
	Deps
	fiber *fiber.App
	huma  huma.API
}
