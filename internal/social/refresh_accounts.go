package social

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// gone is the reason of an account that its login no longer reaches.
const gone = "not_reachable"

// AdGrants returns up to n living grants of ad platforms that have connected accounts, ordered by id, after the given
// one.
func (r *Refresher) AdGrants(ctx context.Context, after Claim, n int) (out []Claim, err error) {
	err = r.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `SELECT org_id, id FROM social_grant g
			WHERE (org_id, id) > ($1, $2) AND kind = 'ads' AND status IN ('active', 'expiring')
			ORDER BY org_id, id LIMIT $3`, after.Org, after.Grant, n)
		if err != nil {
			return err
		}

		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Claim, err error) {
			err = row.Scan(&c.Org, &c.Grant)
			return c, err
		})

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list ad logins: %w", err)
	}

	return out, nil
}

// Synced counts the changes of one SyncAccounts call.
type Synced struct{ Renamed, Gone, Back, Tokens int }

// SyncAccounts asks the provider which accounts the login reaches, and updates the accounts of the grant: names and
// pictures, the accounts' own tokens, and whether the login still reaches them, or does so again. It connects no
// account and changes no account of another login. If the grant's token has been replaced since the request, no token
// of an account is replaced.
//
// If the provider fails, its error is returned and nothing changes, with one exception: if the provider refuses the
// token of a login that cannot be renewed, the grant is marked as needing a new login.
func (r *Refresher) SyncAccounts(ctx context.Context, org, grant id.ID) (done Synced, err error) {
	g, err := r.readGrant(ctx, org, grant)
	if err != nil {
		return done, err
	}

	p, err := r.Service.Providers.Of(g.platform, g.client)
	if err != nil {
		return done, err
	}

	version := int64(0)
	for {
		token, err := r.TokenAfter(ctx, org, grant, version)
		if err != nil {
			return done, err
		}

		if g, err = r.readGrant(ctx, org, grant); err != nil {
			return done, err
		}

		who, accounts, err := p.Login(ctx, token)
		class := provider.ClassOf(err)
		if p.Renewal == provider.NoRenewal && (class == provider.Dead || class == provider.Stale) {
			if lost := r.endRefused(ctx, org, grant, g.version, err); lost != nil {
				return done, fmt.Errorf("end grant: %w", lost)
			}
			return done, fmt.Errorf("list accounts: %w", err)
		}

		if class == provider.Stale && version == 0 {
			version = g.version // refused before its expiry: retry once with a fresh token
			continue
		}

		if err != nil {
			return done, fmt.Errorf("list accounts: %w", err)
		}

		return r.writeReached(ctx, org, grant, token.IssuedAt, accounts, !who.Cut)
	}
}

// Platform returns the platform of a grant.
func (r *Refresher) Platform(ctx context.Context, org, grant id.ID) (string, error) {
	g, err := r.readGrant(ctx, org, grant)
	if err != nil {
		return "", err
	}
	return g.platform, nil
}

// endRefused ends a grant that cannot be renewed and has a token that the provider refuses, since no refresh would
// detect it. version is the grant's version when the token was read; if the grant has changed since, it stays as it is.
func (r *Refresher) endRefused(ctx context.Context, org, grant id.ID, version int64,
	err error,
) error {
	reason := "refused"
	var said *provider.Error
	if errors.As(err, &said) {
		reason = said.Code
	}

	return r.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		_, err := r.Service.Died(ctx, tx, grant, version, reason)
		return err
	})
}

// writeReached writes the accounts that a login reaches. issued identifies the token with which they were requested. If
// whole is set, accounts that are not listed are no longer reached.
func (r *Refresher) writeReached(ctx context.Context, org, grant id.ID, issued time.Time,
	accounts []provider.Account,
	whole bool,
) (done Synced, err error) {
	var ids, names, pictures []string
	for _, a := range accounts {
		ids, names, pictures = append(ids, a.ExternalID), append(names, a.DisplayName), append(pictures, a.AvatarURL)
	}

	err = r.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		done = Synced{}
		lockAccounts(tx)
		rows, err := tx.Exec(ctx, `
			UPDATE social_account a SET display_name = CASE WHEN n.name = '' THEN a.display_name
			ELSE n.name END, avatar_url = n.picture, computed = computed + 1
			FROM unnest($3::text[], $4::text[], $5::text[]) AS n (external_id, name, picture)
			WHERE a.org_id = $1 AND a.grant_id = $2 AND a.external_account_id = n.external_id
			AND a.disconnected_at IS NULL
				AND (a.display_name, a.avatar_url) IS DISTINCT FROM (CASE WHEN n.name = '' THEN a.display_name
				ELSE n.name END, n.picture)`,
			org, grant, notNil(ids), notNil(names), notNil(pictures))
		if err != nil {
			return err
		}

		done.Renamed = int(rows)
		back, err := tx.Exec(ctx, `UPDATE social_account SET status = 'active', reason = '', computed = computed + 1
			WHERE org_id = $1 AND grant_id = $2 AND external_account_id = ANY ($3) AND status = 'reauth_required'
			AND reason = $4 AND disconnected_at IS NULL`,
			org, grant, notNil(ids), gone)
		done.Back = int(back)
		if err != nil {
			return err
		}

		if done.Tokens, err = r.renewOwn(ctx, tx, grant, issued, accounts); err != nil || !whole {
			return err
		}

		var lost []id.ID
		missing, err := tx.Query(ctx,
			`UPDATE social_account SET status = 'reauth_required', reason = $4, computed = computed + 1
			WHERE org_id = $1 AND grant_id = $2 AND NOT external_account_id = ANY ($3) AND status = 'active'
			AND disconnected_at IS NULL RETURNING id`, org, grant, notNil(ids), gone)
		if err != nil {
			return err
		}

		if lost, err = pgx.CollectRows(missing, pgx.RowTo[id.ID]); err != nil || len(lost) == 0 {
			return err
		}

		done.Gone = len(lost)
		all, err := readAccounts(ctx, tx, lost)
		if err != nil {
			return err
		}

		for _, v := range all {
			r.Service.Audit(ctx, tx,
				Act{
					Action: "social_account.reauth_required", Target: "social_account", ID: v.ID.String(),
					Detail: map[string]any{"reason": gone},
				})
			if err := events.Announce(ctx, tx, events.SocialAccountReauthRequired{Account: v.Account}); err != nil {
				return err
			}
		}

		return nil
	})
	if err != nil {
		return done, fmt.Errorf("write accounts: %w", err)
	}

	return done, nil
}

// renewOwn replaces the accounts' own tokens if the login's token is still the one issued at the given time. The
// grant's row is locked, so that no refresh and no new login can intervene.
func (r *Refresher) renewOwn(ctx context.Context, tx *postgres.Tx, grant id.ID, issued time.Time,
	accounts []provider.Account,
) (n int, err error) {
	own := map[string]provider.Secret{}
	for _, a := range accounts {
		if a.Token != "" {
			own[a.ExternalID] = a.Token
		}
	}

	if len(own) == 0 {
		return 0, nil
	}

	var same bool
	err = tx.QueryRow(ctx,
		`SELECT issued_at = $3 AND status IN ('active', 'expiring') FROM social_grant WHERE org_id = $1
			AND id = $2 FOR UPDATE`, []any{tx.Org(), grant, issued}, &same)
	if err != nil || !same {
		return 0, err
	}

	return r.Service.sealOwn(ctx, tx, grant, own)
}

// sealOwn seals new tokens, given by external id, of the connected accounts of a grant, and returns how many it wrote.
func (s *Service) sealOwn(ctx context.Context, tx *postgres.Tx, grant id.ID, own map[string]provider.Secret) (int,
	error,
) {
	externals := slices.Sorted(maps.Keys(own))
	rows, err := tx.Query(ctx, `SELECT id, external_account_id FROM social_account
		WHERE org_id = $1 AND grant_id = $2 AND external_account_id = ANY ($3) AND disconnected_at IS NULL
		ORDER BY id`, tx.Org(), grant, externals)
	if err != nil {
		return 0, fmt.Errorf("read accounts: %w", err)
	}

	type account struct {
		ID       id.ID
		External string
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[account])
	if err != nil {
		return 0, fmt.Errorf("read accounts: %w", err)
	}

	for _, a := range all {
		sealed, err := s.Box.Seal([]byte(own[a.External].Reveal()), accountAbout(tx.Org(), a.ID))
		if err != nil {
			return 0, fmt.Errorf("seal account's token: %w", err)
		}
		tx.Queue(`UPDATE social_account SET sealed_token = $3 WHERE org_id = $1 AND id = $2`, tx.Org(), a.ID, sealed)
	}

	return len(all), nil
}

// SyncSpread is the time over which the daily account syncs are spread.
const SyncSpread = 6 * time.Hour
