package accounttell

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/jobs/systemmail"
)

// Job is what the work needs.
type Job struct {
	Box    *secret.Box
	Social *social.Service
}

// Handler ties the job to its kind.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work writes the mails. A grant that is well again meanwhile is no news any more.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	loss, ok, err := j.Social.LossOf(ctx, tx, run.Args.Grant)
	if err != nil || !ok {
		return err
	}
	return systemmail.TellKeepers(ctx, tx, j.Box, func(to string) mail.Message { return mail.AccountsLost(to, loss.Name, loss.Accounts) })
}
