package social

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// AccountToken is an access token of an account's login.
type AccountToken struct {
	Access provider.Secret
	// Version identifies the token, for a caller whom the provider refuses it.
	Version int64
	// Sandboxed reports that the login was made at a sandbox: the provider itself does not know the token.
	Sandboxed bool
}

// AccountToken returns a valid access token of a connected account's login, as Token does. It never returns the token
// of the version refused or an older one; 0 refuses none. The error is ErrReauth for an account that is disconnected,
// too.
func (r *Refresher) AccountToken(ctx context.Context, org, account id.ID, refused int64) (t AccountToken, err error) {
	var (
		grant            id.ID
		platform, client string
	)
	err = r.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `
			SELECT g.id, g.platform, g.client_id
			FROM social_account a JOIN social_grant g ON g.org_id = a.org_id AND g.id = a.grant_id
			WHERE a.org_id = $1 AND a.id = $2 AND a.disconnected_at IS NULL AND a.status = 'active'`,
			[]any{org, account}, &grant, &platform, &client)
	})
	switch {
	case postgres.None(err):
		return t, ErrReauth
	case err != nil:
		return t, fmt.Errorf("read account: %w", err)
	}

	p, err := r.Service.Providers.Of(platform, client)
	if err != nil {
		return t, err
	}

	token, version, err := r.awaitToken(ctx, org, grant, refused)
	if err != nil {
		return t, err
	}

	return AccountToken{Access: token.Access, Version: version, Sandboxed: p.Sandboxed()}, nil
}
