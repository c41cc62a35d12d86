package tenants

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// The actions in the logs: of the org, and of the operators.
const (
	suspended, suspend = "organization.suspended", "org.suspend"
	resumed, resume    = "organization.resumed", "org.resume"
)

// Suspend suspends an org and returns it. Suspending a suspended one changes nothing. It requires a reason.
func (s *Service) Suspend(ctx context.Context, by By, which id.ID) (*Detail, error) {
	if err := by.checkReason(); err != nil {
		return nil, err
	}

	err := s.system.Tx(ctx, which, func(tx *postgres.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE org SET suspended_at = now(), suspended_reason = $2
			WHERE id = $1 AND suspended_at IS NULL`, which, by.Reason)
		if err != nil || n == 0 {
			return err
		}

		queue.HoldOrg(tx, which)
		logAction(ctx, tx, by, suspended, suspend)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("suspend org: %w", err)
	}

	return s.Show(ctx, which)
}

// Resume ends the suspension of an org and returns it. Resuming an org that is not suspended changes nothing.
func (s *Service) Resume(ctx context.Context, by By, which id.ID) (*Detail, error) {
	d, err := s.Show(ctx, which)
	if err != nil || d.SuspendedAt == nil {
		return d, err
	}

	// The emails first: until the hold ends, none of their jobs finds one too late.
	err = s.app.Tx(ctx, which, func(tx *postgres.Tx) error {
		emails.ExcuseSince(tx, d.SuspendedAt.Time)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("resume org: %w", err)
	}

	err = s.system.Tx(ctx, which, func(tx *postgres.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE org SET suspended_at = NULL, suspended_reason = ''
			WHERE id = $1 AND suspended_at IS NOT NULL`, which)
		if err != nil || n == 0 {
			return err
		}

		queue.ReleaseOrg(tx, which)
		logAction(ctx, tx, by, resumed, resume)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("resume org: %w", err)
	}

	return s.Show(ctx, which)
}

// logAction writes an action to the log of tx's org and to that of the operators.
func logAction(ctx context.Context, tx *postgres.Tx, by By, action, act string) {
	org.Audit(ctx, tx, org.Entry{
		Action: action, Target: "organization", ID: tx.Org().String(),
		Detail: map[string]any{"by": by.Actor, "reason": by.Reason},
	})
	queue.AuditOrg(tx, by.Actor, act, tx.Org(), by.Reason)
}
