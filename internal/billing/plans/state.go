package plans

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// State is an org's subscription.
type State struct {
	Plan              string
	Interval          string // month or year; "" without a paid plan
	Status            Status // one of the stored statuses
	CancelAtPeriodEnd bool
	PeriodStart       *wire.Time
	PeriodEnd         *wire.Time
	TrialEnds         *wire.Time // nil: no trial, or an unlimited one
	// The payment processor's ids; "" if none.
	Customer, Subscription, Item, OverageItem string
	Quantity                                  int
}

// Stored is a State as stored.
type Stored struct {
	State
	PastDueSince *wire.Time
	Version      int64 // entitlement_version
	UpdatedAt    wire.Time
	Parent       id.ID // the agency of a client org; zero for other orgs
}

const stateSQL = `
SELECT s.plan, coalesce(s.interval, ''), s.status, s.cancel_at_period_end, s.current_period_start,
s.current_period_end, s.trial_ends_at,
	coalesce(s.stripe_customer_id, ''), coalesce(s.stripe_subscription_id, ''), coalesce(s.stripe_item_id, ''),
	coalesce(s.stripe_overage_item_id, ''),
	s.quantity, s.past_due_since, s.entitlement_version, s.updated_at, coalesce(o.parent_org_id,
	'00000000-0000-0000-0000-000000000000')
FROM subscription s JOIN org o ON o.id = s.org_id WHERE s.org_id = $1`

// Read returns the subscription of tx's org.
func Read(ctx context.Context, tx *postgres.Tx) (*Stored, error) { return readState(ctx, tx, stateSQL) }

func readState(ctx context.Context, tx *postgres.Tx, sql string) (*Stored, error) {
	var s Stored
	err := tx.QueryRow(ctx, sql, []any{tx.Org()}, &s.Plan, &s.Interval, &s.Status, &s.CancelAtPeriodEnd,
		&s.PeriodStart, &s.PeriodEnd, &s.TrialEnds,
		&s.Customer, &s.Subscription, &s.Item, &s.OverageItem, &s.Quantity, &s.PastDueSince, &s.Version, &s.UpdatedAt,
		&s.Parent)
	if err != nil {
		return nil, fmt.Errorf("read subscription: %w", err)
	}

	return &s, nil
}

const setSQL = `
UPDATE subscription SET plan = $2, interval = NULLIF($3, ''), status = $4, cancel_at_period_end = $5,
current_period_start = $6,
	current_period_end = $7, trial_ends_at = $8, stripe_customer_id = NULLIF($9, ''), stripe_subscription_id =
	NULLIF($10, ''),
	stripe_item_id = NULLIF($11, ''), stripe_overage_item_id = NULLIF($12, ''), quantity = $13, updated_at =
	clock_timestamp(),
	past_due_since = CASE WHEN $4 <> 'past_due' THEN NULL ELSE coalesce(past_due_since, clock_timestamp()) END
WHERE org_id = $1`

// errNoPlan reports an unknown plan. It is a bug of the caller, which has to check the catalogue first.
var errNoPlan = errors.New("unknown plan")

// Set makes s the subscription of tx's org and returns the previous one. Rights, limits and the org's rate are updated
// in the same transaction. If s equals the stored state, Set writes nothing, so it is idempotent. Calls for one org are
// serialized by its row lock. tx must have the App role.
//
// For a client org, Set returns fault.Conflict, because its agency subscribes. Check Parent of Read's result before
// charging money.
//
// Set does not announce plan.changed; its caller does.
func (c *Catalogue) Set(ctx context.Context, tx *postgres.Tx, s State) (before *Stored, err error) {
	if _, ok := c.byKey[s.Plan]; !ok {
		return nil, fmt.Errorf("set plan %s: %w", s.Plan, errNoPlan)
	}

	before, err = readState(ctx, tx, stateSQL+` FOR UPDATE OF s`)
	if err != nil {
		return nil, err
	}
	if !before.Parent.IsZero() {
		return nil,
			fault.New(fault.Conflict, "This organization has its rights from its agency, which manages the plan.")
	}
	if before.State.sameRow(&s) {
		return before, nil
	}

	tx.Queue(setSQL, tx.Org(), s.Plan, s.Interval, string(s.Status), s.CancelAtPeriodEnd, s.PeriodStart, s.PeriodEnd,
		s.TrialEnds,
		s.Customer, s.Subscription, s.Item, s.OverageItem, s.Quantity)

	return before, c.Settle(ctx, tx)
}

func (s *State) sameRow(o *State) bool {
	a := *s
	b := *o
	if !equalTimes(a.PeriodStart, b.PeriodStart) || !equalTimes(a.PeriodEnd, b.PeriodEnd) ||
		!equalTimes(a.TrialEnds, b.TrialEnds) {
		return false
	}

	for _, x := range []*State{&a, &b} {
		x.PeriodStart = nil
		x.PeriodEnd = nil
		x.TrialEnds = nil
	}

	return a == b
}

func equalTimes(a, b *wire.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(b.Time)
}

// Begin sets the length of the trial of an org that tx has just created, in days; 0 means unlimited. tx may have the
// System role. The caller settles the org in a transaction of the App role; if that fails, the sweep settles it.
func Begin(tx *postgres.Tx, days int) {
	if days > 0 {
		tx.Queue(
			`UPDATE subscription SET trial_ends_at = clock_timestamp() + make_interval(days => $2) WHERE org_id = $1`,
			tx.Org(), days)
	}
}

// timeOrNil converts a stored time; nil stays nil.
func timeOrNil(t *wire.Time) *time.Time {
	if t == nil {
		return nil
	}
	return &t.Time
}
