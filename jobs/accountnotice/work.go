package accountnotice

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/social"
)

// Job has the dependencies of the work.
type Job struct {
	App, System *postgres.DB
	Social      *social.Service
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work processes the notice.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	return j.Social.ActOn(ctx, j.App, j.System, run.Args.Notice)
}
