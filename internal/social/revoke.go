package social

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// Ending is a pending login that has ended: no account can be chosen from it.
type Ending struct{ Pending }

// End ends a pending login in tx if it has expired or was discarded, and returns it. It returns nil if the login was
// already used, and the remaining time if the login has not expired yet.
func (s *Service) End(ctx context.Context, tx *postgres.Tx, pending id.ID) (*Ending, time.Duration, error) {
	e := &Ending{Pending{ID: pending}}
	kind := ""
	err := tx.QueryRow(ctx, `
		UPDATE social_pending SET discarded_at = coalesce(discarded_at, now()), accounts = NULL
		WHERE org_id = $1 AND id = $2 AND (discarded_at IS NOT NULL OR expires_at <= now())
		RETURNING platform, kind, client_id, subject_id, sealed, scopes`,
		[]any{tx.Org(), pending}, &e.Platform, &kind, &e.client, &e.subject, &e.sealed, &e.scopes)
	if err == nil {
		e.Kind = provider.Kind(kind)
		return e, 0, nil
	}

	if !postgres.None(err) {
		return nil, 0, fmt.Errorf("end pending login: %w", err)
	}

	var left time.Duration
	err = tx.QueryRow(ctx,
		`SELECT greatest(expires_at - now(), interval '1 second') FROM social_pending WHERE org_id = $1 AND id = $2`,
		[]any{tx.Org(), pending}, &left)
	if postgres.None(err) {
		return nil, 0, nil
	}

	if err != nil {
		return nil, 0, fmt.Errorf("read pending login: %w", err)
	}

	return nil, left, nil
}

// Outcomes of the revocation of a login, for the log.
const (
	Ended  = "revoked"
	Shared = "shared" // another grant of the same person and application needs it
	NoWay  = "not_revocable"
	NoApp  = "not_configured" // the login's application is not configured here
)

// RevokeEnding revokes the login's tokens at the provider, unless another grant of any org, or another pending login,
// is for the same person and application, since a revocation may invalidate those too. system is the System role's
// pool. An error can be retried.
func (s *Service) RevokeEnding(ctx context.Context, system *postgres.DB, org id.ID, e *Ending) (outcome string,
	err error,
) {
	p, err := s.Providers.Of(e.Platform, e.client)
	switch {
	case errors.Is(err, provider.ErrUnconfigured):
		return NoApp, nil
	case err != nil, !p.Revocable(), e.sealed == nil:
		return NoWay, nil //nolint:nilerr // a platform that is no longer offered has nobody to tell
	}

	m, err := s.openMaterial(org, e.ID, e.sealed)
	if err != nil {
		return "", err
	}

	token := m.asToken(e.scopes)
	if e.subject == "" { // the person was never looked up
		who, _, err := p.Login(ctx, token)
		switch provider.ClassOf(err) {
		case "":
			e.subject = who.Subject
		case provider.Dead, provider.Stale:
			return Ended, nil
		default:
			return "", err
		}
	}

	shared, err := s.isLoginShared(ctx, system, e)
	if err != nil {
		return "", err
	}

	if shared {
		return Shared, nil
	}

	if err := p.Revoke(ctx, token); err != nil {
		return "", fmt.Errorf("revoke: %w", err)
	}

	return Ended, nil
}

func (s *Service) isLoginShared(ctx context.Context, system *postgres.DB, e *Ending) (shared bool,
	err error,
) {
	err = system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `
			SELECT EXISTS (SELECT FROM social_grant WHERE client_id = $1 AND subject_id = $2 AND status <> 'revoked')
				OR EXISTS (SELECT FROM social_pending WHERE client_id = $1 AND subject_id = $2 AND id <> $3
				AND discarded_at IS NULL AND expires_at > now())`,
			[]any{e.client, e.subject, e.ID}, &shared)
	})
	if err != nil {
		return false, fmt.Errorf("read sibling logins: %w", err)
	}

	return shared, nil
}

// Forget deletes an ended login in tx and writes an audit entry with the outcome.
func (s *Service) Forget(ctx context.Context, tx *postgres.Tx, e *Ending, outcome string) {
	tx.Queue(`DELETE FROM social_pending WHERE org_id = $1 AND id = $2`, tx.Org(), e.ID)
	s.Audit(ctx, tx,
		Act{
			Action: "social_grant.ended", Target: "social_grant", ID: e.ID.String(),
			Detail: map[string]any{"platform": e.Platform, "outcome": outcome},
		})
}
