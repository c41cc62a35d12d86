package social

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// Disconnect erases, in tx, the account's own token and, if it was the last account of its grant, the grant's tokens.
// allowed is called first with the locked account; its error is returned. Disconnecting a disconnected account changes
// nothing.
func (s *Service) Disconnect(ctx context.Context, tx *postgres.Tx, kind provider.Kind, account id.ID,
	allowed func(Versioned) error,
) error {
	lockAccounts(tx)
	v, err := Get(ctx, tx, kind, account, true)
	if err != nil || v.Status == Revoked {
		return err
	}

	if err := allowed(v); err != nil {
		return err
	}

	tx.Queue(`
		UPDATE social_account SET sealed_token = NULL, status = 'revoked', reason = 'disconnected',
		disconnected_at = now(), updated_at = now(), edit = edit + 1
		WHERE org_id = $1 AND id = $2`, tx.Org(), account)
	if err := s.endUnused(ctx, tx, []id.ID{v.Grant}); err != nil {
		return err
	}

	s.Audit(ctx, tx,
		Act{
			Action: "social_account.disconnected", Target: "social_account", ID: account.String(),
			Detail: map[string]any{"platform": v.Platform},
		})
	v.Status = Revoked
	v.TokenExpiresAt = nil

	return events.Announce(ctx, tx, events.SocialAccountDisconnected{Account: v.Account})
}

// Died marks, in tx, a grant and all of its accounts as needing a new login. It writes an audit entry, announces an
// event for each account, and notifies people by mail, at most once a day for each grant. version is the grant's
// version that the caller read: if the grant has changed since, or is dead already, Died does nothing. It reports
// whether this call marked the grant. reason is a code, such as invalid_grant or rotation_outcome_lost.
//
// Died must be called before tx locks a row, since it takes the org lock.
func (s *Service) Died(ctx context.Context, tx *postgres.Tx, grant id.ID, version int64, reason string) (bool, error) {
	lockAccounts(tx)
	var (
		mail     bool
		platform string
	)
	err := tx.QueryRow(ctx, `
		UPDATE social_grant SET status = 'reauth_required', reason = $4, refresh_at = NULL, version = version + 1,
		attempt_state = NULL, attempt_at = NULL,
			attempt_token_hash = NULL, updated_at = now()
		WHERE org_id = $1 AND id = $2 AND version = $3 AND status IN ('active', 'expiring')
		RETURNING coalesce(announced_at < now() - $5::interval, true), platform`,
		[]any{tx.Org(), grant, version, truncateName(reason, 100), mailEvery}, &mail, &platform)
	if postgres.None(err) {
		return false, nil
	}

	if err != nil {
		return false, fmt.Errorf("write grant: %w", err)
	}

	broken, err := s.breakAccounts(ctx, tx, grant, reason)
	if err != nil {
		return false, err
	}

	s.Audit(ctx, tx, Act{
		Action: "social_grant.reauth_required", Target: "social_grant", ID: grant.String(),
		Detail: map[string]any{"platform": platform, "reason": reason, "accounts": len(broken)},
	})
	for _, v := range broken {
		if err := events.Announce(ctx, tx, events.SocialAccountReauthRequired{Account: v.Account}); err != nil {
			return false, err
		}
	}

	if !mail || len(broken) == 0 {
		return true, nil
	}

	tx.Queue(`UPDATE social_grant SET announced_at = now() WHERE org_id = $1 AND id = $2`, tx.Org(), grant)

	return true, s.Tell(ctx, tx, grant)
}

// breakAccounts marks the accounts of a grant and returns them in their new state.
func (s *Service) breakAccounts(ctx context.Context, tx *postgres.Tx, grant id.ID, reason string) ([]Versioned, error) {
	tx.Queue(`
		UPDATE social_account SET status = 'reauth_required', reason = $3, computed = computed + 1
		WHERE org_id = $1 AND grant_id = $2 AND status = 'active'`, tx.Org(), grant, truncateName(reason, 100))
	all, err := queryAccounts(ctx, tx,
		accountSQL+
			`WHERE a.org_id = $1 AND a.grant_id = $2 AND a.disconnected_at IS NULL
				AND a.status = 'reauth_required' ORDER BY a.id`, tx.Org(), grant)
	if err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}

	return all, nil
}

// Loss describes, for the mail, a grant that needs a new login.
type Loss struct {
	Platform string // as in paths
	Name     string // display name
	Accounts []string
}

// LossOf returns the loss of a grant. ok is false if the grant no longer needs a new login or has no connected account.
func (s *Service) LossOf(ctx context.Context, tx *postgres.Tx, grant id.ID) (loss Loss, ok bool, err error) {
	err = tx.QueryRow(ctx,
		`SELECT g.platform, coalesce(array_agg(a.display_name
			ORDER BY a.display_name) FILTER (WHERE a.id IS NOT NULL), '{}')
		FROM social_grant g LEFT JOIN social_account a ON a.org_id = g.org_id AND a.grant_id = g.id
		AND a.disconnected_at IS NULL
		WHERE g.org_id = $1 AND g.id = $2 AND g.status = 'reauth_required' GROUP BY g.platform`,
		[]any{tx.Org(), grant}, &loss.Platform, &loss.Accounts)
	switch {
	case postgres.None(err):
		return loss, false, nil
	case err != nil:
		return loss, false, fmt.Errorf("read grant: %w", err)
	}

	loss.Name = loss.Platform
	if p, err := s.Providers.Get(loss.Platform); err == nil {
		loss.Name = p.Name
	}

	return loss, len(loss.Accounts) > 0, nil
}
