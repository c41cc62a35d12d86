package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// errStored ends a change before it starts, because a concurrent request has stored the response for its key.
var errStored = errors.New("a response is stored for the key")

// twoPhaseWrite is write for operations that call the payment processor between two transactions. No transaction is
// open during the call. The first transaction records the request under its idempotency key, so that a concurrent
// duplicate finds it in flight. The second stores the response together with its effect. If a process dies between the
// two, a retry gets the actual outcome of the request.
func twoPhaseWrite[O any](ctx context.Context, a *App, act func(change.Call) (*change.Answer, error),
	show func(*change.Answer) *O,
) (*O, error) {
	r := httpx.RequestOf(ctx)
	if r.Key == "" {
		got, err := act(change.Call{})
		if err != nil {
			return nil, err
		}
		return show(got), nil
	}
	if out, err := findKeyedOutcome(ctx, a, r, show); out != nil || err != nil {
		return out, err
	}

	kept := false
	got, err := act(change.Call{
		Key: r.Key, Fingerprint: r.Fingerprint[:],
		Check: func(ctx context.Context, tx *postgres.Tx) error {
			stored, err := httpx.RecallStored(ctx, tx, r)
			if err == nil && stored != nil {
				err = errStored
			}
			return err
		},
		Keep: func(_ context.Context, tx *postgres.Tx, got *change.Answer) error {
			kept = true
			return httpx.StoreResponse(tx, a.Server, r, show(got))
		},
	})
	switch {
	case errors.Is(err, errStored):
		return findKeyedOutcome(ctx, a, r, show)
	case err != nil:
		return nil, err
	case kept:
		return show(got), nil
	}

	return storeResponse(ctx, a, show(got))
}

// storeResponse stores the response of a request that changed nothing in the database.
func storeResponse[O any](ctx context.Context, a *App, out *O) (*O, error) {
	r := httpx.RequestOf(ctx)
	if r.Key == "" {
		return out, nil
	}
	return out, a.DB.Tx(
		ctx,
		r.Who.Org,
		func(tx *postgres.Tx) error { return httpx.StoreResponse(tx, a.Server, r, out) },
	)
}

// findKeyedOutcome returns the response for a key that was used before: the stored response, or the outcome of the
// key's change. It returns nil for a new key.
func findKeyedOutcome[O any](ctx context.Context, a *App, r *httpx.Request, show func(*change.Answer) *O) (*O, error) {
	var (
		out     *O
		earlier *change.Known
	)
	err := a.DB.Tx(ctx, r.Who.Org, func(tx *postgres.Tx) error {
		stored, err := httpx.RecallStored(ctx, tx, r)
		if err != nil {
			return err
		}
		if stored != nil {
			return a.DecodeStored(r, stored, &out)
		}
		earlier, err = change.ByKey(ctx, tx, r.Key)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case out != nil:
		r.Replayed = true
		return out, nil
	case earlier == nil:
		return nil, nil //nolint:nilnil // a new key is no error
	case string(earlier.Fingerprint) != string(r.Fingerprint[:]):
		return nil,
			fault.New(fault.IdempotencyMismatch,
				"This Idempotency-Key was used with another request. Use a new key for a new request.")
	case earlier.Answer.Status == billing.InFlight:
		return nil, httpx.InFlight()
	}

	got, err := a.changes.Recall(ctx, earlier)
	if err != nil {
		return nil, err
	}

	r.Replayed = true

	return show(got), nil
}

// findStoredResponse returns the stored response of a route without plan changes, or nil for a new key.
func findStoredResponse[O any](ctx context.Context, a *App) (out *O, err error) {
	r := httpx.RequestOf(ctx)
	if r.Key == "" {
		return nil, nil //nolint:nilnil // as for a new key
	}

	err = a.DB.Tx(ctx, r.Who.Org, func(tx *postgres.Tx) error {
		stored, err := httpx.RecallStored(ctx, tx, r)
		if err != nil || stored == nil {
			return err
		}
		r.Replayed = true
		return a.DecodeStored(r, stored, &out)
	})
	if err != nil {
		return nil, fmt.Errorf("recall response: %w", err)
	}

	return out, nil
}
