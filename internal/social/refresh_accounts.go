package social

import (
	"context"
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

// gone is the reason of an account that its login does not reach any more.
const gone = "not_reachable"

// AdGrants answers living logins at ad platforms on which accounts hang, in the order of their ids, after the given one.
func (r *Refresher) AdGrants(ctx context.Context, after Claim, n int) (out []Claim, err error) {
	err = r.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `SELECT org_id, id FROM social_grant g
			WHERE (org_id, id) > ($1, $2) AND kind = 'ads' AND status IN ('active', 'expiring') ORDER BY org_id, id LIMIT $3`, after.Org, after.Grant, n)
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

// Synced is what a look at a login's accounts changed.
type Synced struct{ Renamed, Gone, Back, Tokens int }

// SyncAccounts asks the provider which accounts the login reaches, and brings those of ours that hang on it up to
// date: names and pictures, the tokens that they have of their own, and which of them it reaches no more, or again. It
// connects none and touches no other login's. An answer that was asked for with a token that is no longer the login's
// replaces no token.
// The provider's error where it does not answer: nothing has changed then.
func (r *Refresher) SyncAccounts(ctx context.Context, org, grant id.ID) (done Synced, err error) {
	g, err := r.look(ctx, org, grant)
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
		if g, err = r.look(ctx, org, grant); err != nil {
			return done, err
		}
		who, accounts, err := p.Login(ctx, token)
		if provider.ClassOf(err) == provider.Stale && version == 0 {
			version = g.version // it is refused though it should live: a fresh one, once
			continue
		}
		if err != nil {
			return done, fmt.Errorf("list accounts: %w", err)
		}
		return r.apply(ctx, org, grant, token.IssuedAt, accounts, !who.Cut)
	}
}

// apply writes what a login reaches, as it said to the token that was issued then. whole: what is not among accounts is not reached.
func (r *Refresher) apply(ctx context.Context, org, grant id.ID, issued time.Time, accounts []provider.Account, whole bool) (done Synced, err error) {
	var ids, names, pictures []string
	for _, a := range accounts {
		ids, names, pictures = append(ids, a.ExternalID), append(names, a.DisplayName), append(pictures, a.AvatarURL)
	}
	err = r.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		done = Synced{}
		lock(tx)
		rows, err := tx.Exec(ctx, `
			UPDATE social_account a SET display_name = CASE WHEN n.name = '' THEN a.display_name ELSE n.name END, avatar_url = n.picture, computed = computed + 1
			FROM unnest($3::text[], $4::text[], $5::text[]) AS n (external_id, name, picture)
			WHERE a.org_id = $1 AND a.grant_id = $2 AND a.external_account_id = n.external_id AND a.disconnected_at IS NULL
				AND (a.display_name, a.avatar_url) IS DISTINCT FROM (CASE WHEN n.name = '' THEN a.display_name ELSE n.name END, n.picture)`,
			org, grant, notNil(ids), notNil(names), notNil(pictures))
		if err != nil {
			return err
		}
		done.Renamed = int(rows)
		back, err := tx.Exec(ctx, `UPDATE social_account SET status = 'active', reason = '', computed = computed + 1
			WHERE org_id = $1 AND grant_id = $2 AND external_account_id = ANY ($3) AND status = 'reauth_required' AND reason = $4 AND disconnected_at IS NULL`,
			org, grant, notNil(ids), gone)
		done.Back = int(back)
		if err != nil {
			return err
		}
		if done.Tokens, err = r.renewOwn(ctx, tx, grant, issued, accounts); err != nil || !whole {
			return err
		}
		var lost []id.ID
		missing, err := tx.Query(ctx, `UPDATE social_account SET status = 'reauth_required', reason = $4, computed = computed + 1
			WHERE org_id = $1 AND grant_id = $2 AND NOT external_account_id = ANY ($3) AND status = 'active' AND disconnected_at IS NULL RETURNING id`, org, grant, notNil(ids), gone)
		if err != nil {
			return err
		}
		if lost, err = pgx.CollectRows(missing, pgx.RowTo[id.ID]); err != nil || len(lost) == 0 {
			return err
		}
		done.Gone = len(lost)
		all, err := shown(ctx, tx, lost)
		if err != nil {
			return err
		}
		for _, v := range all {
			r.Service.Audit(ctx, tx, Act{Action: "social_account.reauth_required", Target: "social_account", ID: v.ID.String(), Detail: map[string]any{"reason": gone}})
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

// renewOwn replaces the tokens that accounts have of their own, if those of the login are still the ones that were issued
// then: the grant's row is locked, so that neither a refresh nor a new login comes in between.
func (r *Refresher) renewOwn(ctx context.Context, tx *postgres.Tx, grant id.ID, issued time.Time, accounts []provider.Account) (n int, err error) {
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
	err = tx.QueryRow(ctx, `SELECT issued_at = $3 AND status IN ('active', 'expiring') FROM social_grant WHERE org_id = $1 AND id = $2 FOR UPDATE`, []any{tx.Org(), grant, issued}, &same)
	if err != nil || !same {
		return 0, err
	}
	return r.Service.sealOwn(ctx, tx, grant, own)
}

// sealOwn seals new tokens of the connected accounts that hang on a grant, by their external ids, and answers how many.
func (s *Service) sealOwn(ctx context.Context, tx *postgres.Tx, grant id.ID, own map[string]provider.Secret) (int, error) {
	externals := slices.Sorted(maps.Keys(own))
	rows, err := tx.Query(ctx, `SELECT id, external_account_id FROM social_account
		WHERE org_id = $1 AND grant_id = $2 AND external_account_id = ANY ($3) AND disconnected_at IS NULL ORDER BY id`, tx.Org(), grant, externals)
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

// SyncSpread is the time over which a day's looks are spread.
const SyncSpread = 6 * time.Hour
