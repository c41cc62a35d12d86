package billing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// The kinds of changes.
const (
	Start     = "start"      // the first subscription
	Now       = "now"        // an immediate swap, with proration
	PeriodEnd = "period_end" // a swap at the end of the paid period
	Cancel    = "cancel"     // cancellation at the end of the period
)

// The states of a change.
const (
	InFlight       = "in_flight"       // Stripe may have received the request
	ActionRequired = "action_required" // awaits the customer's payment confirmation
	Scheduled      = "scheduled"       // takes effect at the end of the period
	Applied        = "applied"
	Failed         = "failed"
	Undone         = "undone"
	Unchanged      = "unchanged" // only of an Answer: nothing to change
)

// Change is one change of plan, recorded before the request to Stripe.
type Change struct {
	ID                     id.ID
	Kind, State            string
	FromPlan, FromInterval string // "": no subscription before
	ToPlan, ToInterval     string // "": no subscription after
	Key                    string // Stripe's idempotency key; the change's further requests append to it
	KeyedAt                time.Time
	Preview                *id.ID
	Expected               int64 // the preview's amount
	AmountDue              int64 // charged or due
	Currency               string
	Subscription, Invoice  string // Stripe's ids; "" until known
	Failure                string // error code
	EffectiveAt            *time.Time
	CreatedAt, UpdatedAt   time.Time

	Org     id.ID // set when the change is executed
	Order   Order
	Version int64 // the customer's version when the change was recorded
}

// Order holds the parameters of the requests to Stripe, so that a retry sends identical requests.
type Order struct {
	Customer     string `json:"customer"`
	Subscription string `json:"subscription,omitempty"`
	Items        []Item `json:"items,omitempty"`          // of the subscription, after the change
	ProratedAt   int64  `json:"prorated_at,omitempty"`    // the preview's, in Unix seconds
	Pay          string `json:"pay,omitempty"`            // payment_behavior
	Release      string `json:"release,omitempty"`        // schedule to release first
	Uncancel     bool   `json:"uncancel,omitempty"`       // cancellation to take back
	PeriodStart  int64  `json:"period_start,omitempty"`   // of the current phase
	PeriodEnd    int64  `json:"period_end,omitempty"`     //
	Current      []Item `json:"current,omitempty"`        // items of the current phase
	Invoice      string `json:"latest_invoice,omitempty"` // before the change, to recognise the change's own
}

// Item is one item of a subscription.
type Item struct {
	ID       string `json:"id,omitempty"`
	Price    string `json:"price"`
	Quantity int64  `json:"quantity"`
	Deleted  bool   `json:"deleted,omitempty"`
}

const changeColumns = `id, kind, state, from_plan, from_interval, to_plan, to_interval, params, stripe_key, keyed_at,
	preview_id,
	amount_expected, amount_due, currency, subscription_id, invoice_id, failure, effective_at, created_at, updated_at`

func scanChange(row pgx.CollectableRow) (*Change, error) {
	c := &Change{}
	var params []byte
	err := row.Scan(&c.ID, &c.Kind, &c.State, &c.FromPlan, &c.FromInterval, &c.ToPlan, &c.ToInterval, &params, &c.Key,
		&c.KeyedAt, &c.Preview,
		&c.Expected, &c.AmountDue, &c.Currency, &c.Subscription, &c.Invoice, &c.Failure, &c.EffectiveAt, &c.CreatedAt,
		&c.UpdatedAt)
	if err == nil {
		err = json.Unmarshal(params, &c.Order)
	}

	return c, err
}

// listChanges returns the changes of tx's org that match the condition.
func listChanges(ctx context.Context, tx *postgres.Tx, where string, args ...any) ([]*Change, error) {
	rows, err := tx.Query(ctx, "SELECT "+changeColumns+" FROM plan_change WHERE org_id = $1 AND "+where,
		append([]any{tx.Org()}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}

	all, err := pgx.CollectRows(rows, scanChange)
	if err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}

	return all, nil
}

// One returns a change of tx's org.
func One(ctx context.Context, tx *postgres.Tx, change id.ID) (*Change, error) {
	all, err := listChanges(ctx, tx, "id = $2", change)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fault.New(fault.NotFound, "There is no such change.")
	}

	return all[0], nil
}

// ByCallerKey returns the change that a caller's idempotency key created and the fingerprint of its request, or nil.
func ByCallerKey(ctx context.Context, tx *postgres.Tx, key string) (c *Change, fingerprint []byte, err error) {
	all, err := listChanges(ctx, tx, "client_key = $2", key)
	if err != nil || len(all) == 0 {
		return nil, nil, err
	}
	err = tx.QueryRow(ctx, `SELECT fingerprint FROM plan_change WHERE org_id = $1 AND id = $2`,
		[]any{tx.Org(), all[0].ID}, &fingerprint)
	return all[0], fingerprint, err
}

// listUnsettled returns the open changes of tx's org, oldest first.
func listUnsettled(ctx context.Context, tx *postgres.Tx) ([]*Change, error) {
	return listChanges(ctx, tx, "state IN ('in_flight', 'action_required', 'scheduled') ORDER BY id")
}

// AppliedTo reports whether h has the plan that the change requested and waits for no payment.
func (c *Change) AppliedTo(h *StripeSubscription) bool {
	return h.Has(c.ToPlan, c.ToInterval) && h.PendingUntil == nil
}

// AwaitsPayment reports whether h still waits for the change's payment.
func (c *Change) AwaitsPayment(h *StripeSubscription) bool {
	if c.Kind == Start {
		return h.Status == string(stripe.SubscriptionStatusIncomplete)
	}
	return h.PendingUntil != nil
}

// Insert writes a new change with the caller's idempotency key, or "", and the fingerprint of its request.
func (c *Change) Insert(ctx context.Context, tx *postgres.Tx, callerKey string, fingerprint []byte) error {
	params, err := json.Marshal(c.Order)
	if err != nil {
		return fmt.Errorf("encode change: %w", err)
	}

	var key *string
	if callerKey != "" {
		key = &callerKey
	}

	_, err = tx.Exec(ctx, `INSERT INTO plan_change (org_id, `+changeColumns+`, client_key, fingerprint)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
			$23)`,
		tx.Org(), c.ID, c.Kind, c.State, c.FromPlan, c.FromInterval, c.ToPlan, c.ToInterval, string(params), c.Key,
		c.KeyedAt, c.Preview,
		c.Expected, c.AmountDue, c.Currency, c.Subscription, c.Invoice, c.Failure, c.EffectiveAt, c.CreatedAt,
		c.UpdatedAt, key, fingerprint)

	return err
}

// SetState sets a change's state. A failed or undone change releases the caller's idempotency key, so that the caller
// may retry the request with it.
func (s *Service) SetState(tx *postgres.Tx, c *Change, state string, detail map[string]any) {
	c.State, c.UpdatedAt = state, s.Timestamp()
	tx.Queue(`UPDATE plan_change SET state = $3, amount_due = $4, currency = $5, subscription_id = $6, invoice_id
		= $7, failure = $8, effective_at = $9, updated_at = $10,
			client_key = CASE WHEN $3 IN ('failed', 'undone') THEN NULL ELSE client_key END
		WHERE org_id = $1 AND id = $2`,
		tx.Org(), c.ID, c.State, c.AmountDue, c.Currency, c.Subscription, c.Invoice, c.Failure, c.EffectiveAt,
		c.UpdatedAt)
	s.AddStep(tx, c.ID, state, detail)
}

// AddStep appends to a change's timeline.
func (s *Service) AddStep(tx *postgres.Tx, change id.ID, event string, detail map[string]any) {
	b := []byte("{}")
	if len(detail) > 0 {
		if enc, err := json.Marshal(detail); err == nil {
			b = enc
		}
	}

	tx.Queue(`INSERT INTO plan_change_step (org_id, change_id, id, event, detail, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)`,
		tx.Org(), change, id.New(), event, string(b), s.Timestamp())
}

// Step is one entry of a change's timeline.
type Step struct {
	Event  string
	Detail map[string]any
	At     time.Time
}

// Steps returns a change's timeline, oldest first.
func Steps(ctx context.Context, tx *postgres.Tx, change id.ID) ([]Step, error) {
	rows, err := tx.Query(ctx,
		`SELECT event, detail, created_at FROM plan_change_step WHERE org_id = $1 AND change_id = $2 ORDER BY id`,
		tx.Org(), change)
	if err != nil {
		return nil, fmt.Errorf("read timeline: %w", err)
	}

	steps, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Step])
	if err != nil {
		return nil, fmt.Errorf("read timeline: %w", err)
	}

	return steps, nil
}
