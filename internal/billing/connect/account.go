package connect

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Account is an org's connected account as stored.
type Account struct {
	Facts
	Org     id.ID
	ID      string // Stripe's id; "": none yet
	State   string
	Since   time.Time // when the state was entered
	Version int64     // incremented by each reading that differs

	key               string
	keyedAt, intended time.Time
	attempt           int
}

const accountColumns = `org_id, coalesce(stripe_id, ''), state, state_since, version, stripe_key, keyed_at,
	intended_at, attempt,
	details_submitted, charges_enabled, payouts_enabled, card_payments, transfers, currently_due, past_due,
	pending_verification, deadline, disabled_reason`

func scanAccount(row pgx.CollectableRow) (*Account, error) {
	c := &Account{}
	err := row.Scan(&c.Org, &c.ID, &c.State, &c.Since, &c.Version, &c.key, &c.keyedAt, &c.intended, &c.attempt,
		&c.Details, &c.Charges, &c.Payouts, &c.CardPayments, &c.Transfers, &c.Due, &c.PastDue, &c.Pending,
		&c.Deadline, &c.Disabled)
	c.Gone = c.State == Disconnected
	return c, err
}

// Read returns the stored account of tx's org, without a request to Stripe. For an org without an account the state is
// NotStarted.
func Read(ctx context.Context, tx *postgres.Tx) (*Account, error) {
	return readRow(ctx, tx, "")
}

func readRow(ctx context.Context, tx *postgres.Tx, lock string) (*Account, error) {
	rows, err := tx.Query(ctx, `SELECT `+accountColumns+` FROM connect_account WHERE org_id = $1`+lock, tx.Org())
	if err != nil {
		return nil, fmt.Errorf("read connected account: %w", err)
	}

	c, err := pgx.CollectExactlyOneRow(rows, scanAccount)
	if postgres.None(err) {
		return &Account{Org: tx.Org(), State: NotStarted}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read connected account: %w", err)
	}

	return c, nil
}

// readStored is Read in its own transaction.
func (s *Service) readStored(ctx context.Context, org id.ID) (c *Account, err error) {
	err = s.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		c, err = Read(ctx, tx)
		return err
	})
	return c, err
}

// writeReading writes a reading of the account into the locked row; was is the row before. It is the only place where a
// state is entered, so each change of state is audited and announced once.
func (s *Service) writeReading(ctx context.Context, tx *postgres.Tx, was *Account, account string, f Facts,
	why string,
) error {
	is := f.State()
	now := s.Timestamp()
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
		tx.Org(), account, is, f.Details, f.Charges, f.Payouts, f.CardPayments, f.Transfers, orEmpty(f.Due),
		orEmpty(f.PastDue), orEmpty(f.Pending), f.Deadline, f.Disabled, since, now)
	if why == billing.BySync {
		s.Metrics.Repairs.WithLabelValues("connected_account").Inc()
	}
	if is == was.State {
		return nil
	}
	if is == Disconnected { // the target rate; Stripe may refuse to apply it
		tx.Queue(`UPDATE connect_sale SET fee_wanted = 0, updated_at = $3 WHERE org_id = $1 AND account = $2
			AND state = 'active'`, tx.Org(), account, now)
	}

	s.Audit(ctx, tx,
		billing.Act{
			Action: "connect.state_changed", Target: "connect_account", ID: account,
			Detail: map[string]any{"from": was.State, "to": is, "disabled_reason": f.Disabled, "by": why},
		})
	told := events.Connect{
		Status: is, ChargesEnabled: f.Charges, PayoutsEnabled: f.Payouts,
		Requirements: orEmpty(f.openRequirements()),
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

// abandoned is the age after which the process of an intent is considered dead.
const abandoned = time.Minute
