// Package accountnotice acts on what a provider told us of a person: that they removed our application, or that their data
// are to be erased.
package accountnotice

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/social"
)

// Args name a notice.
type Args struct {
	Notice id.ID `json:"notice"`
}

// Kind is the platform's own: the person's logins may be of several orgs, each of which is a transaction. Broken off it
// is done again from the start. Its tries span some hours: an erasure that was promised outlasts an outage.
var Kind = queue.Define[Args]("account.notice", queue.Options{Lane: queue.Critical, MaxAttempts: 15})

// Job is what the work needs.
type Job struct {
	App, System *postgres.DB
	Social      *social.Service
}

// Handler ties the job to its kind.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work acts on the notice.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	return j.Social.ActOn(ctx, j.App, j.System, run.Args.Notice)
}
