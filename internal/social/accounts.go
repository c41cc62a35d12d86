package social

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Account is a connected account as the API and the events show it; it never holds a token.
type Account = events.SocialAccount

// Versioned is an account with the two parts of its ETag. A refresh of the account's grant increments the second.
type Versioned struct {
	Account
	Edit     int
	Computed int64
	Grant    id.ID
}

// Account statuses.
const (
	Active   = "active"
	Expiring = "expiring"
	Reauth   = "reauth_required"
	Revoked  = "revoked"
)

// shownSQL selects the displayed status of account a with grant g: the account's own status or, while that is active,
// the grant's.
const shownSQL = `CASE WHEN a.status = 'active' THEN g.status ELSE a.status END`

const accountSQL = `
SELECT a.id, a.org_id, a.platform, a.external_account_id, a.display_name, NULLIF(a.avatar_url, ''), ` + shownSQL +
	`, a.connected_at,
	CASE WHEN a.disconnected_at IS NULL THEN g.access_expires_at END, a.edit, a.computed + g.version, a.grant_id,
	CASE WHEN a.reason = 'missing_scopes' THEN g.scopes END
FROM social_account a JOIN social_grant g ON g.org_id = a.org_id AND g.id = a.grant_id `

func scanAccount(r pgx.CollectableRow) (v Versioned, err error) {
	var expires *wire.Time
	var short []string // the granted scopes, if one that is needed is not among them
	err = r.Scan(&v.ID, &v.OrgID, &v.Platform, &v.ExternalAccountID, &v.DisplayName, &v.AvatarURL, &v.Status,
		&v.ConnectedAt, &expires, &v.Edit, &v.Computed, &v.Grant, &short)
	v.TokenExpiresAt = expires
	v.MissingScopes = []string{}
	if short != nil {
		v.MissingScopes = provider.MissingScopes(v.Platform, short)
	}
	return v, err
}

// Filter narrows a list of accounts. An empty field matches everything.
type Filter struct {
	Kind     provider.Kind
	Platform string
	Status   string
	Archived bool // disconnected accounts only; by default connected ones only
}

// last is greater than every id.
var last = id.ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

const filterSQL = `WHERE a.org_id = $1 AND a.kind = $2 AND ($3 = '' OR a.platform = $3) AND ($4 = '' OR ` + shownSQL +
	` = $4) AND (a.disconnected_at IS NOT NULL) = $5 `

func (f Filter) args(tx *postgres.Tx) []any {
	return []any{tx.Org(), string(f.Kind), f.Platform, f.Status, f.Archived}
}

// List returns at most limit accounts that were created before the account before (zero: no bound), newest first.
func List(ctx context.Context, tx *postgres.Tx, f Filter, before id.ID, limit int) ([]Versioned, error) {
	if before.IsZero() {
		before = last
	}

	all, err := queryAccounts(ctx, tx, accountSQL+filterSQL+`AND a.id < $6 ORDER BY a.id DESC LIMIT $7`,
		append(f.args(tx), before, limit)...)
	if err != nil {
		return nil, fmt.Errorf("list accounts: %w", err)
	}

	return all, nil
}

// Count returns the number of accounts that match f.
func Count(ctx context.Context, tx *postgres.Tx, f Filter) (n int64, err error) {
	err = tx.QueryRow(ctx,
		`SELECT count(*) FROM social_account a JOIN social_grant g ON g.org_id = a.org_id AND g.id = a.grant_id `+
			filterSQL, f.args(tx), &n)
	if err != nil {
		return 0, fmt.Errorf("count accounts: %w", err)
	}

	return n, nil
}

var errNoAccount = fault.New(fault.NotFound, "There is no such account.")

// Get returns one account of a kind; it returns a disconnected one only if archived is set. Otherwise it fails with
// 404.
func Get(ctx context.Context, tx *postgres.Tx, kind provider.Kind, account id.ID, archived bool) (Versioned, error) {
	all, err := queryAccounts(ctx, tx,
		accountSQL+`WHERE a.org_id = $1 AND a.id = $2 AND a.kind = $3 AND (a.disconnected_at IS NULL OR $4)`,
		tx.Org(), account, string(kind), archived)
	switch {
	case err != nil:
		return Versioned{}, fmt.Errorf("read account: %w", err)
	case len(all) == 0:
		return Versioned{}, errNoAccount
	}

	return all[0], nil
}

// readAccounts returns the accounts with the given ids, in the order of ids.
func readAccounts(ctx context.Context, tx *postgres.Tx, ids []id.ID) ([]Versioned, error) {
	all, err := queryAccounts(ctx, tx,
		accountSQL+`WHERE a.org_id = $1 AND a.id = ANY ($2) ORDER BY array_position($2, a.id)`, tx.Org(), ids)
	if err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}
	return all, nil
}

func queryAccounts(ctx context.Context, tx *postgres.Tx, sql string, args ...any) ([]Versioned,
	error,
) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanAccount)
}
