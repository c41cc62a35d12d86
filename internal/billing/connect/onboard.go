package connect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Link is a link for an account's owner to Stripe's onboarding pages. It can be used once, until Until.
type Link struct {
	URL   string
	Until time.Time
}

// Onboard returns a link for the org's account. It creates the account if there is none, and a new account if our
// access to the old one was revoked. Stripe redirects the browser to back afterwards, or to refresh if the link has
// expired. A link is not stored, because it grants access like a login.
//
// It returns fault.Conflict for a client org, which cannot have an account.
func (s *Service) Onboard(ctx context.Context, org id.ID, refresh, back string) (*Link, error) {
	for range billing.Tries {
		c, err := s.ensureAccount(ctx, org)
		if err != nil {
			return nil, billing.AsFault(err)
		}

		got, err := billing.FromStripe(s.Stripe.AccountLinks.New(&stripe.AccountLinkParams{
			Params: billing.Params(ctx, ""), Account: &c.ID, RefreshURL: &refresh, ReturnURL: &back,
			Type: stripe.String("account_onboarding"),
		}))
		switch {
		case err == nil:
			return &Link{URL: got.URL, Until: billing.UnixTime(got.ExpiresAt)}, nil
		case !LostAccess(err):
			return nil, billing.AsFault(err)
		}

		// access revoked without an event: start again
		if _, err := s.RefreshAccount(ctx, org, billing.BySync); err != nil {
			return nil, billing.AsFault(err)
		}
	}

	return nil, billing.Unavailable(billing.ErrMoved)
}

// patience is how long a call waits for a concurrent call that is creating the same account.
const patience = 12 * time.Second

// ensureAccount returns the org's account and creates it if there is none. It works like a change: commit the intent
// and its key, call Stripe, write the response. Concurrent calls use the same key and get one account. A call that
// finds the intent of a process that died continues it.
func (s *Service) ensureAccount(ctx context.Context, org id.ID) (*Account, error) {
	until := time.Now().Add(patience)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		c, err := s.recordIntent(ctx, org)
		if err != nil || c.ID != "" {
			return c, err
		}
		if err := s.At(ctx, "intended"); err != nil {
			return nil, err
		}

		made, err := s.makeAccount(ctx, c)
		switch {
		case errors.Is(err, billing.ErrMoved):
			continue // with a new key
		case inUse(err) && time.Now().Before(until): // a concurrent request holds the key
			if err := billing.Pause(ctx, wait); err != nil {
				return nil, err
			}
			continue
		case err != nil:
			return nil, err
		}

		if err := s.At(ctx, "made"); err != nil {
			return nil, err
		}
		if c, err = s.storeCreated(ctx, org, made); err != nil {
			return nil, err
		}

		return c, s.At(ctx, "adopted")
	}
}

func inUse(err error) bool {
	var e *stripe.Error
	return errors.As(err, &e) &&
		(e.Code == stripe.ErrorCodeIdempotencyKeyInUse || e.HTTPStatusCode == http.StatusConflict)
}

// recordIntent records the intent to create an account, unless the org has an account that we can access.
func (s *Service) recordIntent(ctx context.Context, org id.ID) (c *Account, err error) {
	err = s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		if c, err = Read(ctx, tx); err != nil || c.ID != "" && c.State != Disconnected ||
			c.key != "" && c.ID == "" {
			return err
		}

		var client bool
		if err := tx.QueryRow(ctx, `SELECT parent_org_id IS NOT NULL FROM org WHERE id = $1`, []any{org},
			&client); err != nil {
			return fmt.Errorf("read org: %w", err)
		}
		if client {
			return fault.New(fault.Conflict, "A client organization is billed by its agency and cannot bill others.")
		}

		now := s.Timestamp()
		// A concurrent call may have been first; then the row read below is its intent.
		_, err := tx.Exec(ctx, `
			INSERT INTO connect_account (org_id, stripe_key, keyed_at, intended_at, state_since, created_at,
			updated_at) VALUES ($1, $2, $3, $3, $3, $3, $3)
			ON CONFLICT (org_id) DO UPDATE SET stripe_id = NULL, state = 'not_started', stripe_key = $4, attempt =
			connect_account.attempt + 1, keyed_at = $3,
				intended_at = $3, state_since = $3, updated_at = $3, version = connect_account.version + 1,
				details_submitted = false, charges_enabled = false,
				payouts_enabled = false, card_payments = '', transfers = '', currently_due = '{}', past_due =
				'{}', pending_verification = '{}', deadline = NULL, disabled_reason = ''
			WHERE connect_account.state = 'disconnected' AND connect_account.stripe_id = $5`,
			org, accountKey(org, 1), now, accountKey(org, c.attempt+1), c.ID)
		if err != nil {
			return fmt.Errorf("write intent: %w", err)
		}
		if c.ID != "" {
			s.Audit(ctx, tx, billing.Act{Action: "connect.begun_anew", Target: "connect_account", ID: c.ID})
		}

		c, err = Read(ctx, tx)

		return err
	})
	return c, err
}

// accountKey returns the idempotency key of an org's nth account.
func accountKey(org id.ID, n int) string {
	if n == 1 {
		return "acct:" + org.String()
	}
	return fmt.Sprintf("acct:%s:%d", org, n)
}

// makeAccount requests the intended account from Stripe. Its parameters never vary, because Stripe rejects a key with
// other parameters. If the key has expired, or its stored response is a 500, the outcome is unknown: then makeAccount
// searches the existing accounts for the org's. If there is none, it stores a new key and returns ErrMoved.
func (s *Service) makeAccount(ctx context.Context, c *Account) (*stripe.Account, error) {
	if s.Now().Sub(c.keyedAt) < billing.KeyLife {
		p := &stripe.AccountParams{
			Params: billing.Params(ctx, c.key), Type: stripe.String(string(stripe.AccountTypeStandard)),
		}
		p.AddMetadata("org_id", c.Org.String())
		made, err := billing.FromStripe(s.Stripe.Accounts.New(p))
		if !billing.IsStored(err) {
			return made, err
		}
		if made, look := s.findAccount(ctx, c); look != nil || made != nil {
			return made, look
		}
		if s.Now().Sub(c.keyedAt) < billing.FinalAfter {
			return nil, err
		}
	} else if made, err := s.findAccount(ctx, c); err != nil || made != nil {
		return made, err
	}

	err := s.App.Tx(ctx, c.Org, func(tx *postgres.Tx) error {
		tx.Queue(`UPDATE connect_account SET stripe_key = $3, attempt = attempt + 1, keyed_at = $4
			WHERE org_id = $1 AND stripe_key = $2 AND stripe_id IS NULL`,
			c.Org, c.key, accountKey(c.Org, c.attempt+1), s.Timestamp())
		return nil
	})
	if err != nil {
		return nil, err
	}

	return nil, billing.ErrMoved
}

// findAccount returns the org's account among those created since the intent, or nil.
func (s *Service) findAccount(ctx context.Context, c *Account) (*stripe.Account, error) {
	since := c.intended.Add(-billing.ListingDelay).Unix()
	p := &stripe.AccountListParams{CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: since}}
	p.Context = ctx
	p.Limit = stripe.Int64(100)
	it := s.Stripe.Accounts.List(p)
	var own *stripe.Account
	for it.Next() {
		if a := it.Account(); a.Metadata["org_id"] == c.Org.String() && !a.Deleted {
			own = a // the listing is newest first: keep the oldest
		}
	}

	_, err := billing.FromStripe(struct{}{}, it.Err())

	return own, err
}

// storeCreated stores the account that Stripe created and its state, unless a concurrent call has done so.
func (s *Service) storeCreated(ctx context.Context, org id.ID, made *stripe.Account) (c *Account, err error) {
	err = s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		if c, err = readRow(ctx, tx, " FOR UPDATE"); err != nil || c.ID != "" {
			return err
		}

		s.Audit(ctx, tx, billing.Act{Action: "connect.account_created", Target: "connect_account", ID: made.ID})
		if err := s.writeReading(ctx, tx, c, made.ID, factsOf(made), billing.ByChange); err != nil {
			return err
		}
		if c, err = Read(ctx, tx); err != nil {
			return err
		}

		return s.At(ctx, "adopting")
	})
	return c, err
}
