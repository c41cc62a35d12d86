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
	// ErrReauth is a grant without a token that a person has not renewed.
	ErrReauth = errors.New("the login needs a person")
	// ErrTokenLater is a grant whose token has ended and is not renewed yet: nobody has to act, ask again later.
	ErrTokenLater = errors.New("the token is being renewed; later")
)

const (
	margin  = time.Minute            // a token that ends sooner is renewed before it is used
	lookOut = 100 * time.Millisecond // between two looks at what another is doing
)

// Token answers a living access token of the grant. One that has ended, or is about to, is renewed first, through the same claim as
// by the job: of many callers one asks the provider and the others wait for what it stores, at most for a lease. ErrReauth and
// ErrTokenLater are the two ways to get none. The answer bears no refresh token.
func (r *Refresher) Token(ctx context.Context, org, grant id.ID) (provider.Token, error) {
	return r.token(ctx, org, grant, 0)
}

// TokenAfter is Token for one whose token of the given version a provider has refused: that one is not answered again.
func (r *Refresher) TokenAfter(ctx context.Context, org, grant id.ID, refused int64) (provider.Token, error) {
	return r.token(ctx, org, grant, refused)
}

func (r *Refresher) token(ctx context.Context, org, grant id.ID, refused int64) (t provider.Token, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.Lease)
	defer cancel()
	for {
		g, err := r.look(ctx, org, grant)
		if err != nil {
			return t, err
		}
		if living(g) && g.version > refused {
			t, err = r.tokenOf(g, org, grant)
			t.Refresh, t.RefreshExpiresAt = "", nil
			return t, err
		}
		if err := busy(g, refused); err != nil {
			if !errors.Is(err, errMoved) {
				return t, err
			}
		} else if err := r.renew(ctx, org, grant, refused); err != nil {
			return t, err
		}
		select {
		case <-ctx.Done():
			return t, fmt.Errorf("%w: %w", ErrTokenLater, ctx.Err())
		case <-time.After(lookOut/2 + spread(lookOut)/2):
		}
	}
}

// living tells whether the token can be used as it is.
func living(g *standing) bool {
	if g.expires == nil {
		return true
	}
	room := min(margin, g.expires.Sub(g.issued)/10)
	return g.expires.After(g.now.Add(room))
}

// busy answers errMoved while another attempt has the grant, ErrTokenLater while a failure is waited out, else nil.
func busy(g *standing, refused int64) error {
	switch ahead := g.due != nil && g.due.After(g.now); {
	case ahead && g.failures > 0:
		return fmt.Errorf("%w: in %s", ErrTokenLater, g.due.Sub(g.now).Round(time.Second))
	case ahead && g.attempt != "":
		return errMoved
	case living(g) && g.version > refused:
		return errMoved // renewed meanwhile
	default:
		return nil
	}
}

// renew makes an attempt unless somebody else does.
func (r *Refresher) renew(ctx context.Context, org, grant id.ID, refused int64) error {
	done, err := r.replay(ctx, org, grant)
	if done || err != nil {
		return err
	}
	a, _, err := r.begin(ctx, org, grant, func(g *standing) error { return busy(g, refused) })
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
	_, err = r.run(ctx, a)
	return err
}

// look reads a grant without keeping anybody from it. ErrReauth where it is not alive.
func (r *Refresher) look(ctx context.Context, org, grant id.ID) (*standing, error) {
	g := &standing{}
	err := r.App.View(ctx, org, func(tx *postgres.Tx) error {
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
