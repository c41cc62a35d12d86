package connect

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ErrCannotSell reports that the account is not enabled and therefore cannot sell: fault.ConnectNotEnabled.
var ErrCannotSell = fault.New(fault.ConnectNotEnabled,
	"The payment account is not enabled, so it cannot sell. GET /white-label/connect shows what is missing.")

// The states of a sale, besides InFlight and Failed.
const (
	Active = "active"
	Ended  = "ended"
)

// Sale is a client's subscription on the reseller's account.
type Sale struct {
	ID                  id.ID
	Client              id.ID
	Account, State      string
	KeyedAt             time.Time
	Email, Name         string
	Amount              int64
	Currency, Interval  string
	Days                int
	Subscription        string // Stripe's id; "" until known
	FeeBPS, FeeWanted   int64  // the platform's percentage in hundredths: at Stripe, and the target
	FeeRefusedAt        *time.Time
	Failure             string
	CreatedAt, UpdateAt time.Time
}

const saleColumns = `id, client_org_id, account, state, keyed_at, email, name, amount, currency, "interval",
	days_until_due, subscription_id,
	fee_bps, fee_wanted, fee_refused_at, failure, created_at, updated_at`

// refusedOffer is the failure of a sale that Stripe rejected.
const refusedOffer = "refused"

func errOfferRefused() error {
	return fault.New(fault.ProviderRefused, "The payment processor rejected this offer.")
}

// Err returns the error with which Sell ended for a failed sale, and nil for any other sale.
func (s *Sale) Err() error {
	switch {
	case s.State != billing.Failed:
		return nil
	case s.Failure == refusedOffer:
		return errOfferRefused()
	default:
		return ErrCannotSell
	}
}

// ReadSale returns a sale of tx's org.
func ReadSale(ctx context.Context, tx *postgres.Tx, sale id.ID) (*Sale, error) {
	all, err := listSales(ctx, tx, "id = $2", sale)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, fault.New(fault.NotFound, "There is no such sale.")
	default:
		return all[0], nil
	}
}

// listSales returns the sales of tx's org that match the condition.
func listSales(ctx context.Context, tx *postgres.Tx, where string, args ...any) ([]*Sale, error) {
	rows, err := tx.Query(ctx, "SELECT "+saleColumns+" FROM connect_sale WHERE org_id = $1 AND "+where,
		append([]any{tx.Org()}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read sales: %w", err)
	}

	all, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[Sale])
	if err != nil {
		return nil, fmt.Errorf("read sales: %w", err)
	}

	return all, nil
}

// setFeePercent sets the platform's percentage, as a decimal rather than the library's float, and records it in the
// metadata, which Stripe copies to each invoice at its creation.
func setFeePercent(p *stripe.SubscriptionParams, bps int64) {
	p.AddExtra("application_fee_percent", plans.Percent(bps))
	p.AddMetadata(feeMark, strconv.FormatInt(bps, 10))
}

// feeMark is the metadata key of an invoice's percentage.
const feeMark = "fee_bps"
