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

// Ending is a pending login that nobody can choose from any more.
type Ending struct{ Pending }

// End takes a pending login out of reach if its time has come, in tx, and answers it. Nil where there is nothing to end,
// because it was chosen from; a wait where its time is still to come.
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
	err = tx.QueryRow(ctx, `SELECT greatest(expires_at - now(), interval '1 second') FROM social_pending WHERE org_id = $1 AND id = $2`, []any{tx.Org(), pending}, &left)
	if postgres.None(err) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read pending login: %w", err)
	}
	return nil, left, nil
}

// Outcomes of the end of a login, for the log.
const (
	Ended  = "revoked"
	Shared = "shared" // another grant of the same person at the same application lives by it
	NoWay  = "not_revocable"
	NoApp  = "not_configured" // this process has not the application that the login was made with
)

// RevokeEnding tells the provider, unless another grant, in whichever org, or another pending login is the same person's at the
// same application: what is revoked at one place may end at all. system is the System role's. An error is worth another try.
func (s *Service) RevokeEnding(ctx context.Context, system *postgres.DB, org id.ID, e *Ending) (outcome string, err error) {
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
	token := m.token(e.scopes)
	if e.subject == "" { // the provider was never asked who it is
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
	shared, err := s.shared(ctx, system, e)
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

func (s *Service) shared(ctx context.Context, system *postgres.DB, e *Ending) (shared bool, err error) {
	err = system.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `
			SELECT EXISTS (SELECT FROM social_grant WHERE client_id = $1 AND subject_id = $2 AND status <> 'revoked')
				OR EXISTS (SELECT FROM social_pending WHERE client_id = $1 AND subject_id = $2 AND id <> $3 AND discarded_at IS NULL AND expires_at > now())`,
			[]any{e.client, e.subject, e.ID}, &shared)
	})
	if err != nil {
		return false, fmt.Errorf("look for siblings: %w", err)
	}
	return shared, nil
}

// Forget drops what is left of an ended login, in tx, and leaves a trace of what became of it.
func (s *Service) Forget(ctx context.Context, tx *postgres.Tx, e *Ending, outcome string) {
	tx.Queue(`DELETE FROM social_pending WHERE org_id = $1 AND id = $2`, tx.Org(), e.ID)
	s.Audit(ctx, tx, Act{Action: "social_grant.ended", Target: "social_grant", ID: e.ID.String(), Detail: map[string]any{"platform": e.Platform, "outcome": outcome}})
}
