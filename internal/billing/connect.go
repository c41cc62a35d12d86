package billing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// The states of a reseller's account. Only an enabled account can sell.
const (
	NotStarted    = "not_started"
	Onboarding    = "onboarding"     // the owner has not submitted all details to Stripe
	PendingReview = "pending_review" // Stripe reviews the account
	Restricted    = "restricted"     // the owner has to act, or Stripe has rejected the account
	Enabled       = "enabled"
	Disconnected  = "disconnected" // the owner or Stripe has revoked our access
)

// Facts are the properties of an account that Stripe reports.
type Facts struct {
	Gone                      bool // can no longer be read
	Details, Charges, Payouts bool
	CardPayments, Transfers   string // statuses of the capabilities; "": not requested
	Due, PastDue, Pending     []string
	Deadline                  *time.Time
	Disabled                  string // why charges or payouts are disabled; "": enabled
}

// factsOf returns the Facts of a Stripe account.
func factsOf(a *stripe.Account) Facts {
	f := Facts{Gone: a.Deleted, Details: a.DetailsSubmitted, Charges: a.ChargesEnabled, Payouts: a.PayoutsEnabled}
	if c := a.Capabilities; c != nil {
		f.CardPayments, f.Transfers = string(c.CardPayments), string(c.Transfers)
	}
	if r := a.Requirements; r != nil {
		f.Due, f.PastDue, f.Pending, f.Disabled = r.CurrentlyDue, r.PastDue, r.PendingVerification,
			string(r.DisabledReason)
		if r.CurrentDeadline != 0 {
			at := unix(r.CurrentDeadline)
			f.Deadline = &at
		}
	}
	return f
}

// waits are the disabled reasons that Stripe resolves. All other reasons need the owner, or are final.
var waits = []string{"requirements.pending_verification", "under_review", "listed"}

// State returns the account's state. It depends on f only:
//
//	no access                                          disconnected
//	the owner has not submitted the details            onboarding
//	charges and payouts on, capabilities active        enabled, although something may be due by a deadline
//	something due or past due, or another reason       restricted
//	everything else                                    pending_review
func (f *Facts) State() string {
	able := func(status string) bool { return status == string(stripe.AccountCapabilityStatusActive) }
	unasked := f.Transfers == "" || f.Transfers == "unrequested"
	switch {
	case f.Gone:
		return Disconnected
	case !f.Details:
		return Onboarding
	case f.Charges && f.Payouts && able(f.CardPayments) && (able(f.Transfers) || unasked):
		return Enabled
	case len(f.Due)+len(f.PastDue) > 0, f.Disabled != "" && !slices.Contains(waits, f.Disabled):
		return Restricted
	default:
		return PendingReview
	}
}

// same reports whether f and o would be stored as the same row.
func (f *Facts) same(o *Facts) bool {
	if (f.Deadline == nil) != (o.Deadline == nil) || f.Deadline != nil && !f.Deadline.Equal(*o.Deadline) {
		return false
	}
	return f.Gone == o.Gone && f.Details == o.Details && f.Charges == o.Charges && f.Payouts == o.Payouts &&
		f.CardPayments == o.CardPayments && f.Transfers == o.Transfers && f.Disabled == o.Disabled &&
		slices.Equal(f.Due, o.Due) && slices.Equal(f.PastDue, o.PastDue) && slices.Equal(f.Pending, o.Pending)
}

// Connected is an org's connected account as stored.
type Connected struct {
	Facts
	Org     id.ID
	Account string // Stripe's id; "": none yet
	State   string
	Since   time.Time // when the state was entered
	Version int64     // incremented by each reading that differs

	key               string
	keyedAt, intended time.Time
	attempt           int
}

const connectedColumns = `org_id, coalesce(stripe_id, ''), state, state_since, version, stripe_key, keyed_at,
	intended_at, attempt,
	details_submitted, charges_enabled, payouts_enabled, card_payments, transfers, currently_due, past_due,
	pending_verification, deadline, disabled_reason`

func scanConnected(row pgx.CollectableRow) (*Connected, error) {
	c := &Connected{}
	err := row.Scan(&c.Org, &c.Account, &c.State, &c.Since, &c.Version, &c.key, &c.keyedAt, &c.intended, &c.attempt,
		&c.Details, &c.Charges, &c.Payouts, &c.CardPayments, &c.Transfers, &c.Due, &c.PastDue, &c.Pending,
		&c.Deadline, &c.Disabled)
	c.Gone = c.State == Disconnected
	return c, err
}

// ReadConnect returns the stored account of tx's org, without a request to Stripe. For an org without an account the
// state is NotStarted.
func ReadConnect(ctx context.Context, tx *postgres.Tx) (*Connected, error) {
	return readConnected(ctx, tx, "")
}

func readConnected(ctx context.Context, tx *postgres.Tx, lock string) (*Connected, error) {
	rows, err := tx.Query(ctx, `SELECT `+connectedColumns+` FROM connect_account WHERE org_id = $1`+lock, tx.Org())
	if err != nil {
		return nil, fmt.Errorf("read connected account: %w", err)
	}
	c, err := pgx.CollectExactlyOneRow(rows, scanConnected)
	if postgres.None(err) {
		return &Connected{Org: tx.Org(), State: NotStarted}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read connected account: %w", err)
	}
	return c, nil
}

// connected is ReadConnect in its own transaction.
func (s *Service) connected(ctx context.Context, org id.ID) (c *Connected, err error) {
	err = s.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		c, err = ReadConnect(ctx, tx)
		return err
	})
	return c, err
}

// enter writes a reading of the account into the locked row; was is the row before. It is the only place where a state
// is entered, so each change of state is audited and announced once.
func (s *Service) enter(ctx context.Context, tx *postgres.Tx, was *Connected, account string, f Facts,
	why string,
) error {
	is, now := f.State(), s.now()
	since := was.Since
	if is != was.State {
		since = now
	}
	tx.Queue(`UPDATE connect_account SET stripe_id = $2, state = $3, details_submitted = $4, charges_enabled = $5,
		payouts_enabled = $6, card_payments = $7,
			transfers = $8, currently_due = $9, past_due = $10, pending_verification = $11, deadline = $12,
			disabled_reason = $13, state_since = $14,
			version = version + 1, updated_at = $15
		WHERE org_id = $1`,
		tx.Org(), account, is, f.Details, f.Charges, f.Payouts, f.CardPayments, f.Transfers, list(f.Due),
		list(f.PastDue), list(f.Pending), f.Deadline, f.Disabled, since, now)
	if why == found {
		s.Metrics.repairs.WithLabelValues("connected_account").Inc()
	}
	if is == was.State {
		return nil
	}
	if is == Disconnected { // the target rate; Stripe may refuse to apply it
		tx.Queue(`UPDATE connect_sale SET fee_wanted = 0, updated_at = $3 WHERE org_id = $1 AND account = $2
			AND state = 'active'`, tx.Org(), account, now)
	}
	s.Audit(ctx, tx,
		Act{
			Action: "connect.state_changed", Target: "connect_account", ID: account,
			Detail: map[string]any{"from": was.State, "to": is, "disabled_reason": f.Disabled, "by": why},
		})
	told := events.Connect{
		Status: is, ChargesEnabled: f.Charges, PayoutsEnabled: f.Payouts,
		Requirements: list(f.asked()),
	}
	switch is {
	case Enabled:
		return events.Announce(ctx, tx, events.ConnectEnabled{Connect: told})
	case Restricted:
		return events.Announce(ctx, tx, events.ConnectRestricted{Connect: told})
	default:
		return nil
	}
}

// asked returns the requirements that the owner has to fulfil, sorted and without duplicates.
func (f *Facts) asked() []string {
	all := slices.Concat(f.PastDue, f.Due)
	slices.Sort(all)
	return slices.Compact(all)
}

// list returns all, or an empty slice if all is nil.
func list(all []string) []string {
	if all == nil {
		return []string{}
	}
	return all
}
