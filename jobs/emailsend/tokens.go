package emailsend

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
)

// Tokens returns the tokens that mailboxes sign in with, or nil.
func Tokens(r *social.Refresher) mailboxes.TokenSource {
	if r == nil {
		return nil
	}
	return func(ctx context.Context, org, account id.ID, refused int64) (mailboxes.Token, error) {
		t, err := r.AccountToken(ctx, org, account, refused)
		if errors.Is(err, social.ErrReauth) {
			err = errors.Join(mailboxes.ErrLoginNeeded, err)
		}
		return mailboxes.Token{
			Access: secret.Text(t.Access.Reveal()), Version: t.Version, Sandboxed: t.Sandboxed,
		}, err
	}
}
