package accountwarn

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/jobs/mailsystem"
)

// Job has the dependencies of the work.
type Job struct {
	Box    *secret.Sealer
	Social *social.Service
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work writes the mails. It writes none if the login was renewed meanwhile.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	end, ok, err := j.Social.TermOf(ctx, tx, run.Args.Grant)
	if err != nil || !ok {
		return err
	}
	return mailsystem.TellKeepers(ctx, tx, j.Box, func(to string) mail.Message {
		return mail.AccountsEnd(to, end.Name, end.Accounts, end.At)
	})
}
