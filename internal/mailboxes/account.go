package mailboxes

import (
	"context"
	"errors"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// LoginNeeded is the status_reason of a mailbox whose connected account a person has to connect again.
const LoginNeeded = "reauthorization_required"

// ErrLoginNeeded is the error of a TokenSource for an account that a person has to connect again.
var ErrLoginNeeded = errors.New("the connected account needs a new login")

// Token is an access token of a connected account.
type Token struct {
	Access  secret.Text
	Version int64 // for TokenSource's refused
	// Sandboxed reports that the account was connected at a sandbox. Its mailbox sends to the sandbox, too.
	Sandboxed bool
}

// TokenSource returns a valid access token of a connected account of the org, and never the token of the version
// refused or an older one; 0 refuses none. The error wraps ErrLoginNeeded, or is one that may pass.
type TokenSource func(ctx context.Context, org, account id.ID, refused int64) (Token, error)

// HoldForLogin holds an active mailbox for d, because its connected account needs a new login; then it is tried again.
// An unverified or disabled mailbox, and one that is held already, stay as they are.
func HoldForLogin(ctx context.Context, tx *postgres.Tx, mailbox id.ID, d time.Duration) error {
	row, err := table.Lock(ctx, tx, mailbox, true)
	if err != nil {
		return err
	}
	m := &row.Value
	if now := time.Now(); m.Status == Active || m.heldOver(now) {
		until := wire.At(now.Add(d))
		m.Status, m.reason, m.HeldUntil = Held, LoginNeeded, &until
		setState(tx, m)
	}
	return nil
}
