package mailboxes

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// SandboxAddress is the address of the sandbox mailbox that `funnelwork up` creates.
const SandboxAddress = "hello@sandbox.localhost"

// SeedSandbox creates the sandbox mailbox of tx's org, active and without a cap, unless the org has or had a mailbox
// with its address.
func (s *Service) SeedSandbox(ctx context.Context, tx *postgres.Tx) error {
	var known bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM mailbox WHERE org_id = $1 AND from_folded = $2)`,
		[]any{tx.Org(), SandboxAddress}, &known)
	if err != nil {
		return fmt.Errorf("find sandbox mailbox: %w", err)
	}
	if known {
		return nil
	}
	_, _, err = s.Create(ctx, tx, &Patch{
		Name: wire.Some("Sandbox"), Kind: wire.Some(Sandbox), FromEmail: wire.Some(SandboxAddress),
		DailyCap: wire.Field[int]{Set: true, Null: true},
	}, nil)
	return err
}
