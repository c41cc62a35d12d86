package systemmail

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// TellKeepers writes a mail to each owner and admin of tx's org and enqueues the jobs that send them.
func TellKeepers(ctx context.Context, tx *postgres.Tx, box *secret.Sealer, write func(to string) mail.Message) error {
	people, err := org.AdminEmails(ctx, tx)
	if err != nil {
		return err
	}
	for _, to := range people {
		written, err := mail.Write(tx, box, write(to))
		if err != nil {
			return fmt.Errorf("write mail: %w", err)
		}
		if err := Kind.Add(ctx, tx, Args{Mail: written}); err != nil {
			return err
		}
	}
	return nil
}
