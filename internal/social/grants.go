package social

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// The part of a token's lifetime after which it is renewed: drawn anew each time, so that a crowd that came at once
// does not come back at once.
const (
	dueFrom = 0.5
	dueTo   = 0.85
)

// DueAt is when a token is to be looked at again: drawn at 50 to 85 % of the lifetime that was stated, and not before it
// may be renewed. One that cannot be renewed is looked at when it ends, and one without an end never: nil.
func DueAt(p *provider.Provider, t provider.Token) *time.Time {
	if t.ExpiresAt == nil {
		return nil
	}
	if !p.CanRefresh(t) {
		return t.ExpiresAt
	}
	draw := dueFrom + (dueTo-dueFrom)*rand.Float64() //nolint:gosec // spreading load, not guarding a secret
	at := t.IssuedAt.Add(time.Duration(draw * float64(t.Lifetime())))
	if young := t.IssuedAt.Add(p.MinAge); at.Before(young) {
		at = young
	}
	return &at
}

// grantRow is what connecting reads of a login that is known.
type grantRow struct {
	ID        id.ID
	status    string
	grantedAt time.Time
	access    []byte
	refresh   []byte
	refreshBy *time.Time
}

func (g *grantRow) alive() bool { return g.status == Active || g.status == Expiring }

// loginOf finds the grant of p's person that p renews, locked; nil where there is none. A grant on which an account hangs
// that p does not reach is another login, such as one for another channel: with p's tokens that account would be lost.
func loginOf(ctx context.Context, tx *postgres.Tx, p *Pending) (*grantRow, error) {
	g := &grantRow{}
	err := tx.QueryRow(ctx, `
		SELECT id, status, granted_at, sealed_access, sealed_refresh, refresh_expires_at FROM social_grant
		WHERE org_id = $1 AND platform = $2 AND client_id = $3 AND subject_id = $4 AND NOT EXISTS (
			SELECT FROM social_account a WHERE a.org_id = social_grant.org_id AND a.grant_id = social_grant.id AND a.disconnected_at IS NULL
				AND NOT a.external_account_id = ANY ($5))
		ORDER BY status IN ('active', 'expiring') DESC, granted_at DESC LIMIT 1 FOR UPDATE`,
		[]any{tx.Org(), p.Platform, p.client, p.subject, externals(p.Offers)}, &g.ID, &g.status, &g.grantedAt, &g.access, &g.refresh, &g.refreshBy)
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // a newcomer is no error
	}
	if err != nil {
		return nil, fmt.Errorf("read grant: %w", err)
	}
	return g, nil
}

// saveGrant writes p's tokens to the grant that known is, or to a new one, and answers its id. Tokens of a younger login
// that are alive are kept. A refresh that is on its way meets another version and changes nothing.
func (s *Service) saveGrant(tx *postgres.Tx, p *Pending, known *grantRow, m material) (id.ID, error) {
	at, err := s.Providers.Get(p.Platform)
	if err != nil {
		return id.ID{}, err
	}
	token := m.token(p.scopes)
	if known == nil {
		grant := id.New()
		access, refresh, err := s.sealTokens(tx.Org(), grant, token)
		if err != nil {
			return grant, err
		}
		tx.Queue(`
			INSERT INTO social_grant (org_id, id, platform, kind, client_id, subject_id, sealed_access, sealed_refresh, scopes, granted_at, issued_at,
				access_expires_at, refresh_expires_at, refresh_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
			tx.Org(), grant, p.Platform, string(p.Kind), p.client, p.subject, access, refresh, p.scopes, p.grantedAt, token.IssuedAt,
			token.ExpiresAt, token.RefreshExpiresAt, DueAt(at, token))
		return grant, nil
	}
	if known.alive() && known.grantedAt.After(p.grantedAt) {
		return known.ID, nil
	}
	if token.Refresh == "" && known.refresh != nil { // some grant one only the first time
		_, old, err := s.openTokens(tx.Org(), known.ID, nil, known.refresh)
		if err != nil {
			return known.ID, err
		}
		token = token.KeepRefreshOf(provider.Token{Refresh: old, RefreshExpiresAt: known.refreshBy})
	}
	access, refresh, err := s.sealTokens(tx.Org(), known.ID, token)
	if err != nil {
		return known.ID, err
	}
	tx.Queue(`
		UPDATE social_grant SET sealed_access = $3, sealed_refresh = $4, scopes = $5, granted_at = $6, issued_at = $7, access_expires_at = $8,
			refresh_expires_at = $9, refresh_at = $10, version = version + 1, attempt_state = NULL, attempt_at = NULL, attempt_token_hash = NULL,
			status = 'active', reason = '', fail_count = 0, updated_at = now()
		WHERE org_id = $1 AND id = $2`,
		tx.Org(), known.ID, access, refresh, p.scopes, p.grantedAt, token.IssuedAt, token.ExpiresAt, token.RefreshExpiresAt, DueAt(at, token))
	return known.ID, nil
}

// endUnused erases those of the grants on which no connected account hangs any more, in tx, which holds the lock, and
// asks for the revocation of their tokens where the provider has one.
func (s *Service) endUnused(ctx context.Context, tx *postgres.Tx, grants []id.ID) error {
	for _, grant := range grants {
		var (
			g        grantRow
			platform string
			kind     string
			client   string
			subject  string
			scopes   []string
			issued   time.Time
			expires  *time.Time
		)
		err := tx.QueryRow(ctx, `
			SELECT platform, kind, client_id, subject_id, sealed_access, sealed_refresh, scopes, issued_at, access_expires_at, refresh_expires_at
			FROM social_grant g
			WHERE org_id = $1 AND id = $2 AND status <> 'revoked'
				AND NOT EXISTS (SELECT FROM social_account a WHERE a.org_id = g.org_id AND a.grant_id = g.id AND a.disconnected_at IS NULL)
			FOR UPDATE`,
			[]any{tx.Org(), grant}, &platform, &kind, &client, &subject, &g.access, &g.refresh, &scopes, &issued, &expires, &g.refreshBy)
		if postgres.None(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read grant: %w", err)
		}
		tx.Queue(`
			UPDATE social_grant SET sealed_access = NULL, sealed_refresh = NULL, refresh_at = NULL, version = version + 1, attempt_state = NULL, attempt_at = NULL,
				attempt_token_hash = NULL, status = 'revoked', reason = 'disconnected', updated_at = now()
			WHERE org_id = $1 AND id = $2`, tx.Org(), grant)
		at, err := s.Providers.Of(platform, client)
		if err != nil || !at.Revocable() || g.access == nil && g.refresh == nil {
			continue // nobody to tell, or nothing to tell
		}
		access, refresh, err := s.openTokens(tx.Org(), grant, g.access, g.refresh)
		if err != nil {
			return err
		}
		left := &Pending{ID: id.New(), Platform: platform, Kind: provider.Kind(kind), client: client, subject: subject, scopes: scopes}
		token := provider.Token{Access: access, Refresh: refresh, IssuedAt: issued, ExpiresAt: expires, RefreshExpiresAt: g.refreshBy, Scopes: scopes}
		if err := s.leave(ctx, tx, left, token); err != nil {
			return err
		}
	}
	return nil
}

// leave writes tokens that nobody will use again, for the job that revokes them.
func (s *Service) leave(ctx context.Context, tx *postgres.Tx, p *Pending, token provider.Token) error {
	sealed, err := s.sealMaterial(tx.Org(), p.ID, materialOf(token, nil))
	if err != nil {
		return err
	}
	tx.Queue(`
		INSERT INTO social_pending (org_id, id, platform, kind, client_id, subject_id, actor_type, actor_id, sealed, scopes, granted_at, expires_at, discarded_at)
		VALUES ($1, $2, $3, $4, $5, $6, 'system', '00000000-0000-0000-0000-000000000000', $7, $8, now(), now(), now())`,
		tx.Org(), p.ID, p.Platform, string(p.Kind), p.client, p.subject, sealed, notNil(p.scopes))
	return s.Revoke(ctx, tx, p.ID, time.Time{})
}
