// Package accountnotice processes a provider's notice about a person: that the person removed our application, or that
// the person's data must be erased.
package accountnotice

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/social"
)

// Args identifies a notice.
type Args struct {
	Notice id.ID `json:"notice"`
}

// Kind is a platform job, because the person's logins may belong to several orgs. Each org is a transaction. An
// interrupted run starts over. The attempts span several hours, so that a promised erasure outlasts an outage.
var Kind = queue.Define[Args]("account.notice", queue.Options{Lane: queue.Critical, MaxAttempts: 15})

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
