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

// The range of a token's lifetime within which it is renewed. The point is drawn randomly for each token, so that
// logins that were made at the same time are not renewed at the same time.
const (
	dueFrom = 0.5
	dueTo   = 0.85
)

// DueAt returns when a token is due for renewal: at a random point between 50 and 85 % of its stated lifetime, and not
// before it may be renewed. For a token that cannot be renewed it returns the expiry, and nil if the token never
// expires.
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

// grantRow holds the columns of an existing grant that connecting reads.
type grantRow struct {
	ID        id.ID
	status    string
	grantedAt time.Time
	access    []byte
	refresh   []byte
	refreshBy *time.Time
}

func (g *grantRow) isAlive() bool { return g.status == Active || g.status == Expiring }

// loginOf returns the grant, locked, that p renews for p's person; nil if there is none. A grant with a connected
// account that p does not reach is a different login, for example for another channel: replacing its tokens with p's
// would lose that account.
func loginOf(ctx context.Context, tx *postgres.Tx, p *Pending) (*grantRow, error) {
	g := &grantRow{}
	err := tx.QueryRow(ctx, `
		SELECT id, status, granted_at, sealed_access, sealed_refresh, refresh_expires_at FROM social_grant
		WHERE org_id = $1 AND platform = $2 AND client_id = $3 AND subject_id = $4 AND NOT EXISTS (
			SELECT FROM social_account a WHERE a.org_id = social_grant.org_id AND a.grant_id = social_grant.id
			AND a.disconnected_at IS NULL
				AND NOT a.external_account_id = ANY ($5))
		ORDER BY status IN ('active', 'expiring') DESC, granted_at DESC LIMIT 1 FOR UPDATE`,
		[]any{
			tx.Org(), p.Platform, p.client, p.subject,
			externalIDs(p.Offers),
		}, &g.ID, &g.status, &g.grantedAt,
		&g.access, &g.refresh, &g.refreshBy)
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // a newcomer is no error
	}

	if err != nil {
		return nil, fmt.Errorf("read grant: %w", err)
	}

	return g, nil
}

// saveGrant writes p's tokens to the grant known, or to a new one if known is nil, and returns the grant's id. It keeps
// the tokens of a newer login that is alive. A concurrent refresh finds another version and changes nothing.
func (s *Service) saveGrant(tx *postgres.Tx, p *Pending, known *grantRow, m material) (id.ID, error) {
	at, err := s.Providers.Get(p.Platform)
	if err != nil {
		return id.ID{}, err
	}

	token := m.asToken(p.scopes)
	if known == nil {
		grant := id.New()
		access, refresh, err := s.sealTokens(tx.Org(), grant, token)
		if err != nil {
			return grant, err
		}

		tx.Queue(`
			INSERT INTO social_grant (org_id, id, platform, kind, client_id, subject_id, sealed_access,
			sealed_refresh, scopes, granted_at, issued_at,
				access_expires_at, refresh_expires_at, refresh_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
			tx.Org(), grant, p.Platform, string(p.Kind), p.client, p.subject, access, refresh, p.scopes, p.grantedAt,
			token.IssuedAt,
			token.ExpiresAt, token.RefreshExpiresAt, DueAt(at, token))
		return grant, nil
	}

	if known.isAlive() && known.grantedAt.After(p.grantedAt) {
		return known.ID, nil
	}

	if token.Refresh == "" && known.refresh != nil { // some providers issue one only the first time
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
		UPDATE social_grant SET sealed_access = $3, sealed_refresh = $4, scopes = $5, granted_at = $6, issued_at =
		$7, access_expires_at = $8,
			refresh_expires_at = $9, refresh_at = $10, version = version + 1, attempt_state = NULL, attempt_at =
			NULL, attempt_token_hash = NULL,
			status = 'active', reason = '', fail_count = 0, updated_at = now()
		WHERE org_id = $1 AND id = $2`,
		tx.Org(), known.ID, access, refresh, p.scopes, p.grantedAt, token.IssuedAt, token.ExpiresAt,
		token.RefreshExpiresAt, DueAt(at, token))

	return known.ID, nil
}

// endUnused erases, in tx, the given grants that have no connected account left, and enqueues the revocation of their
// tokens if the provider supports it. tx must hold the org lock.
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
			SELECT platform, kind, client_id, subject_id, sealed_access, sealed_refresh, scopes, issued_at,
			access_expires_at, refresh_expires_at
			FROM social_grant g
			WHERE org_id = $1 AND id = $2 AND status <> 'revoked'
				AND NOT EXISTS (SELECT FROM social_account a WHERE a.org_id = g.org_id AND a.grant_id = g.id
				AND a.disconnected_at IS NULL)
			FOR UPDATE`,
			[]any{tx.Org(), grant}, &platform, &kind, &client, &subject, &g.access, &g.refresh, &scopes, &issued,
			&expires, &g.refreshBy)
		if postgres.None(err) {
			continue
		}

		if err != nil {
			return fmt.Errorf("read grant: %w", err)
		}

		tx.Queue(`
			UPDATE social_grant SET sealed_access = NULL, sealed_refresh = NULL, refresh_at = NULL, version =
			version + 1, attempt_state = NULL, attempt_at = NULL,
				attempt_token_hash = NULL, status = 'revoked', reason = 'disconnected', updated_at = now()
			WHERE org_id = $1 AND id = $2`, tx.Org(), grant)
		at, err := s.Providers.Of(platform, client)
		if err != nil || !at.Revocable() || g.access == nil && g.refresh == nil {
			continue // no way to revoke, or no token left
		}

		access, refresh, err := s.openTokens(tx.Org(), grant, g.access, g.refresh)
		if err != nil {
			return err
		}

		left := &Pending{
			ID: id.New(), Platform: platform, Kind: provider.Kind(kind), client: client,
			subject: subject, scopes: scopes,
		}
		token := provider.Token{
			Access: access, Refresh: refresh, IssuedAt: issued, ExpiresAt: expires, RefreshExpiresAt: g.refreshBy,
			Scopes: scopes, Subject: subject,
		}
		if err := s.storeUnused(ctx, tx, left, token); err != nil {
			return err
		}
	}

	return nil
}

// storeUnused stores tokens that are no longer used, for the job that revokes them.
func (s *Service) storeUnused(ctx context.Context, tx *postgres.Tx, p *Pending,
	token provider.Token,
) error {
	sealed, err := s.sealMaterial(tx.Org(), p.ID, materialOf(token, nil))
	if err != nil {
		return err
	}

	tx.Queue(`
		INSERT INTO social_pending (org_id, id, platform, kind, client_id, subject_id, actor_type, actor_id,
		sealed, scopes, granted_at, expires_at, discarded_at)
		VALUES ($1, $2, $3, $4, $5, $6, 'system', '00000000-0000-0000-0000-000000000000', $7, $8, now(), now(), now())`,
		tx.Org(), p.ID, p.Platform, string(p.Kind), p.client, p.subject, sealed, notNil(p.scopes))

	return s.Revoke(ctx, tx, p.ID, time.Time{})
}
