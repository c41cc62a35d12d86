package command

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// seedMailbox creates the sandbox mailbox in the first org that the seeded user owns, unless the org has or had one. An
// org whose plan has no room for it gets none.
func (p *process) seedMailbox(ctx context.Context, email string) error {
	home, err := p.auth.FirstOwned(ctx, email)
	if err != nil || home.IsZero() {
		return err
	}

	err = p.app.Tx(ctx, home, func(tx *postgres.Tx) error { return p.mailboxes.SeedSandbox(ctx, tx) })
	if full := p.plans.Refused(err); full != nil {
		p.log.WarnContext(ctx, "no sandbox mailbox: the plan's limit is reached", "org_id", home.String())
		err = nil
	}

	return err
}
