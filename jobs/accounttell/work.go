package accounttell

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/org"
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
	people, err := org.Keepers(ctx, tx)
	if err != nil {
		return err
	}
	for _, to := range people {
		written, err := mail.Write(tx, j.Box, mail.AccountsLost(to, loss.Name, loss.Accounts))
		if err != nil {
			return fmt.Errorf("write mail: %w", err)
		}
		if err := systemmail.Kind.Add(ctx, tx, systemmail.Args{Mail: written}); err != nil {
			return err
		}
	}
	return nil
}
