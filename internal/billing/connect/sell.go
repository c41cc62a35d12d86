package connect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Offer describes a recurring charge of a reseller to a client.
type Offer struct {
	Client   id.ID  // a client org of the reseller
	Email    string // for the invoices, which are paid on Stripe's page
	Name     string // shown on the invoice
	Amount   int64  // of each period, in minor units
	Currency string // per period, in minor units
	Interval string // month or year
	Days     int    // until an invoice is due; 0: 14
}

// Sell starts billing a client of the reseller: a direct charge on the reseller's account, with the platform's fee.
// Sell holds the account's row lock while it checks that the account may sell, so every earlier change of its state
// counts. Then it calls Stripe with keys derived from the sale's id, and writes the outcome. The sync continues a sale
// that a process left in flight, if the account may still sell. keep runs first in the transaction that records the
// sale, and its error ends Sell; it may be nil.
//
// Errors: ErrCannotSell, fault.FeatureNotInPlan, fault.NotFound for a client that is not the reseller's,
// fault.ProviderRefused for an offer that Stripe rejects, fault.Unavailable while Stripe is unavailable. With
// fault.Unavailable, Sell also returns the sale if it is recorded and therefore in flight.
func (s *Service) Sell(ctx context.Context, org id.ID, o Offer,
	keep func(context.Context, *postgres.Tx, *Sale) error,
) (*Sale, error) {
	if o.Amount <= 0 || o.Interval != "month" && o.Interval != "year" || !strings.Contains(o.Email, "@") ||
		o.Name == "" || len(o.Currency) != 3 || o.Days < 0 {
		return nil,
			fault.New(fault.ValidationFailed,
				"An offer has a name, an amount above 0, a currency, an interval of a month or a year, and an "+
					"address for its invoices.")
	}
	if o.Days == 0 {
		o.Days = 14
	}

	now := s.Timestamp()
	sale := &Sale{
		ID: id.New(), Client: o.Client, State: billing.InFlight, KeyedAt: now, Email: o.Email, Name: o.Name,
		Amount: o.Amount, Currency: strings.ToUpper(o.Currency), Interval: o.Interval,
		Days: o.Days, CreatedAt: now, UpdateAt: now,
	}
	err := s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		if keep != nil {
			if err := keep(ctx, tx, sale); err != nil {
				return err
			}
		}

		rate, account, err := s.maySell(ctx, tx)
		if err != nil {
			return err
		}

		var known bool
		if err := tx.QueryRow(ctx,
			`SELECT EXISTS (SELECT FROM client_org WHERE org_id = $1 AND id = $2 AND detached_at IS NULL)`,
			[]any{org, o.Client}, &known); err != nil {
			return fmt.Errorf("read client: %w", err)
		}
		if !known {
			return fault.New(fault.NotFound, "There is no such client organization.")
		}

		sale.Account = account
		sale.FeeBPS = rate
		sale.FeeWanted = rate
		tx.Queue(`INSERT INTO connect_sale (org_id, `+saleColumns+
			`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
			org, sale.ID, sale.Client, sale.Account, sale.State, sale.KeyedAt, sale.Email, sale.Name, sale.Amount,
			sale.Currency, sale.Interval, sale.Days,
			sale.Subscription, sale.FeeBPS, sale.FeeWanted, sale.FeeRefusedAt, sale.Failure, sale.CreatedAt,
			sale.UpdateAt)
		s.Audit(ctx, tx, billing.Act{
			Action: "connect.sale_begun", Target: "connect_sale", ID: sale.ID.String(),
			Detail: map[string]any{
				"client_org_id": sale.Client, "amount": sale.Amount, "currency": sale.Currency,
				"interval": sale.Interval, "application_fee_percent": plans.Percent(rate),
			},
		})

		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.At(ctx, "sale begun"); err != nil {
		return nil, err
	}

	return sale, s.carrySale(ctx, org, sale)
}

// maySell returns the platform's percentage and the account. It holds the account's row lock until the end of tx. It
// returns an error if the org may not sell.
func (s *Service) maySell(ctx context.Context, tx *postgres.Tx) (bps int64, account string, err error) {
	c, err := readRow(ctx, tx, " FOR UPDATE")
	if err != nil {
		return 0, "", err
	}
	if c.State != Enabled {
		return 0, "", ErrCannotSell
	}

	r, err := s.Catalogue.In(ctx, tx)
	if err != nil {
		return 0, "", err
	}
	if !r.Has(plans.WhiteLabeling) {
		return 0, "", s.Catalogue.Lacks(&r, plans.WhiteLabeling)
	}

	return s.Catalogue.ConnectFee(&r), c.ID, nil
}

// carrySale creates a recorded sale at Stripe and writes the outcome. If the outcome is unknown, the sale stays in
// flight.
func (s *Service) carrySale(ctx context.Context, org id.ID, sale *Sale) error {
	sub, err := s.createAtStripe(ctx, sale)
	class := billing.Classify(err)
	switch {
	case err == nil:
		if err := s.At(ctx, "sale asked"); err != nil {
			return err
		}
		return s.closeSale(ctx, org, sale, Active, sub, "")
	case LostAccess(err):
		return errors.Join(ErrCannotSell, s.closeSale(ctx, org, sale, billing.Failed, "", "no_access"))
	case class == billing.Rejected, class == billing.NotFound, class == billing.CardDeclined:
		s.Log.WarnContext(ctx, "stripe refused a sale of a reseller", "sale", sale.ID.String(), "error",
			billing.Redacted(err))
		if closed := s.closeSale(ctx, org, sale, billing.Failed, "", refusedOffer); closed != nil {
			return closed
		}
		return errOfferRefused()
	default:
		return billing.AsFault(err)
	}
}

// createAtStripe creates the client's customer, price and subscription on the reseller's account. Its parameters never
// vary, so a retry with the same keys is idempotent.
func (s *Service) createAtStripe(ctx context.Context, sale *Sale) (sub string, err error) {
	key := "sale:" + sale.ID.String()
	cp := &stripe.CustomerParams{Params: billing.Params(ctx, key+":customer"), Email: &sale.Email}
	cp.SetStripeAccount(sale.Account)
	cp.AddMetadata("sale_id", sale.ID.String())
	customer, err := billing.FromStripe(s.Stripe.Customers.New(cp))
	if err != nil {
		return "", err
	}

	pp := &stripe.PriceParams{
		Params: billing.Params(ctx, key+":price"), Currency: stripe.String(strings.ToLower(sale.Currency)),
		UnitAmount:  &sale.Amount,
		ProductData: &stripe.PriceProductDataParams{Name: &sale.Name},
		Recurring:   &stripe.PriceRecurringParams{Interval: &sale.Interval},
	}
	pp.SetStripeAccount(sale.Account)
	price, err := billing.FromStripe(s.Stripe.Prices.New(pp))
	if err != nil {
		return "", err
	}

	sp := &stripe.SubscriptionParams{
		Params: billing.Params(ctx, key), Customer: &customer.ID,
		Items:            []*stripe.SubscriptionItemsParams{{Price: &price.ID}},
		CollectionMethod: stripe.String(string(stripe.SubscriptionCollectionMethodSendInvoice)),
		DaysUntilDue:     stripe.Int64(int64(sale.Days)),
	}
	sp.SetStripeAccount(sale.Account)
	sp.AddMetadata("sale_id", sale.ID.String())
	setFeePercent(sp, sale.FeeBPS)
	made, err := billing.FromStripe(s.Stripe.Subscriptions.New(sp))
	if err != nil {
		return "", err
	}

	return made.ID, nil
}

func (s *Service) closeSale(ctx context.Context, org id.ID, sale *Sale, state, sub, failure string) error {
	sale.State = state
	sale.Subscription = sub
	sale.Failure = failure

	return s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		n, err := tx.Exec(ctx,
			`UPDATE connect_sale SET state = $3, subscription_id = $4, failure = $5, updated_at = $6
				WHERE org_id = $1 AND id = $2 AND state = 'in_flight'`,
			org, sale.ID, state, sub, failure, s.Timestamp())
		if err != nil {
			return fmt.Errorf("write sale: %w", err)
		}
		if n > 0 {
			s.Audit(ctx, tx,
				billing.Act{
					Action: "connect.sale_" + map[string]string{Active: "made", billing.Failed: "refused"}[state],
					Target: "connect_sale", ID: sale.ID.String(),
					Detail: map[string]any{"subscription": sub, "failure": failure},
				})
		}

		return nil
	})
}

// ResumeSales continues the sales of an org that a process left in flight, and returns their number.
func (s *Service) ResumeSales(ctx context.Context, org id.ID) (n int, err error) {
	var left []*Sale
	err = s.App.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		left, err = listSales(ctx, tx, `state = 'in_flight' AND created_at < $2 ORDER BY id`,
			s.Timestamp().Add(-abandoned))
		return err
	})
	if err != nil {
		return 0, err
	}

	for _, sale := range left {
		if err := s.resumeSale(ctx, org, sale); err != nil {
			return n, err
		}
		n++
	}

	return n, nil
}

// resumeSale continues a sale that a process left in flight. If the account may no longer sell, or the keys have
// expired, it does not create the sale: the sale becomes active if its subscription exists at Stripe, and failed
// otherwise.
func (s *Service) resumeSale(ctx context.Context, org id.ID, sale *Sale) error {
	var may bool
	err := s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		_, account, err := s.maySell(ctx, tx)
		may = err == nil && account == sale.Account && s.Now().Sub(sale.KeyedAt) < billing.KeyLife
		return err
	})
	if fault.Is(err, fault.ConnectNotEnabled) || fault.Is(err, fault.FeatureNotInPlan) {
		err = nil
	}
	if err != nil {
		return err
	}
	if may {
		return s.carrySale(ctx, org, sale)
	}

	p := &stripe.SubscriptionListParams{
		Status:       stripe.String("all"),
		CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: sale.KeyedAt.Add(-billing.ListingDelay).Unix()},
	}
	p.Context = ctx
	p.Limit = stripe.Int64(100)
	p.StripeAccount = &sale.Account
	for it := s.Stripe.Subscriptions.List(p); ; {
		if !it.Next() {
			_, err := billing.FromStripe(struct{}{}, it.Err())
			if err != nil && !LostAccess(err) {
				return err
			}
			return s.closeSale(ctx, org, sale, billing.Failed, "", "expired")
		}
		if sub := it.Subscription(); sub.Metadata["sale_id"] == sale.ID.String() {
			return s.closeSale(ctx, org, sale, Active, sub.ID, "")
		}
	}
}
