// Package jobs lists the kinds of jobs; each has a room of its own beside this file.
package jobs

import (
	"log/slog"

	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/jobs/retention"
	"github.com/funnelwork/funnelwork/jobs/systemmail"
)

// Deps are what the jobs' works need.
type Deps struct {
	App, System *postgres.DB
	Log         *slog.Logger
	Box         *secret.Box
	SMTP        *mail.SMTP // nil: system mail goes to the sandbox mailbox
}

// All is every kind with its work: what a worker runs.
func All(d Deps) []queue.Handler {
	return []queue.Handler{
		retention.Job{System: d.System, Log: d.Log}.Handler(),
		systemmail.Kind.Handle(systemmail.Job{DB: d.App, Box: d.Box, SMTP: d.SMTP}.Work),
	}
}
