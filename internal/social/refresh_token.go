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

var (
	// ErrReauth means that a grant has no usable token and a person has to log in again.
	ErrReauth = errors.New("the login needs reauthorization")
	// ErrTokenLater means that a grant's token has expired and is not renewed yet. No person has to act; the caller can
	// retry.
	ErrTokenLater = errors.New("the token is being renewed; retry later")
)

const (
	margin  = time.Minute            // a token that expires sooner is renewed before use
	lookOut = 100 * time.Millisecond // between two checks of another attempt's progress
)

// Token returns a valid access token of the grant, without its refresh token. A token that has expired, or is about to,
// is renewed first. Concurrent callers and the job share one attempt: one of them calls the provider, and the others
// wait for the stored result, for one lease at most. Token returns ErrReauth or ErrTokenLater if there is no valid
// token.
func (r *Refresher) Token(ctx context.Context, org, grant id.ID) (provider.Token, error) {
	t, _, err := r.awaitToken(ctx, org, grant, 0)
	return t, err
}

// TokenAfter is like Token, but never returns the token of the version refused or an older one, which a provider
// refused.
func (r *Refresher) TokenAfter(ctx context.Context, org, grant id.ID, refused int64) (provider.Token, error) {
	t, _, err := r.awaitToken(ctx, org, grant, refused)
	return t, err
}

// awaitToken returns a valid token with its version.
func (r *Refresher) awaitToken(ctx context.Context, org, grant id.ID,
	refused int64) (t provider.Token, version int64,
	err error,
) {
	ctx, cancel := context.WithTimeout(ctx, r.Lease)
	defer cancel()

	for {
		g, err := r.readGrant(ctx, org, grant)
		if err != nil {
			return t, 0, err
		}

		if isUsable(g) && g.version > refused {
			t, err = r.tokenOf(g, org, grant)
			t.Refresh = ""
			t.RefreshExpiresAt = nil
			return t, g.version, err
		}

		if err := busyError(g, refused); err != nil {
			if !errors.Is(err, errMoved) {
				return t, 0, err
			}
		} else if err := r.tryRenewal(ctx, org, grant, refused); err != nil {
			return t, 0, err
		}

		select {
		case <-ctx.Done():
			return t, 0, fmt.Errorf("%w: %w", ErrTokenLater, ctx.Err())
		case <-time.After(lookOut/2 + withJitter(lookOut)/2):
		}
	}
}

// isUsable reports whether the token can be used as it is.
func isUsable(g *grantState) bool {
	if g.expires == nil {
		return true
	}
	room := min(margin, g.expires.Sub(g.issued)/10)
	return g.expires.After(g.now.Add(room))
}

// busyError returns errMoved while another attempt holds the grant, ErrTokenLater during the backoff after a failure,
// and otherwise nil.
func busyError(g *grantState, refused int64) error {
	switch ahead := g.due != nil && g.due.After(g.now); {
	case ahead && g.failures > 0:
		return fmt.Errorf("%w: in %s", ErrTokenLater, g.due.Sub(g.now).Round(time.Second))
	case ahead && g.attempt != "":
		return errMoved
	case isUsable(g) && g.version > refused:
		return errMoved // renewed in the meantime
	default:
		return nil
	}
}

// tryRenewal makes an attempt unless another one is in progress.
func (r *Refresher) tryRenewal(ctx context.Context, org, grant id.ID, refused int64) error {
	done, err := r.replayGrant(ctx, org, grant)
	if done || err != nil {
		return err
	}

	a, _, err := r.beginAttempt(ctx, org, grant,
		func(g *grantState) error { return busyError(g, refused) })
	var wait WaitError
	switch {
	case errors.As(err, &wait) && wait.For > 2*time.Second:
		return fmt.Errorf("%w: %w", ErrTokenLater, err)
	case errors.As(err, &wait):
		select {
		case <-ctx.Done():
		case <-time.After(wait.For):
		}
		return nil
	case err != nil || a == nil:
		return err
	}

	_, err = r.runAttempt(ctx, a)

	return err
}

// readGrant reads a grant without locking it. It returns ErrReauth if the grant is neither active nor expiring.
func (r *Refresher) readGrant(ctx context.Context, org, grant id.ID) (*grantState, error) {
	g := &grantState{}
	err := r.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, standsSQL, []any{org, grant, r.clock()}, g.columns()...)
	})
	switch {
	case postgres.None(err):
		return nil, ErrReauth
	case err != nil:
		return nil, fmt.Errorf("read grant: %w", err)
	}

	return g, nil
}
