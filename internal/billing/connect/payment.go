package connect

import (
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// hint identifies the payment that an event's object refers to. It is used only to look up the payment, because the
// event's data is not trusted.
type hint struct {
	Object, ID, Charge, Invoice, Subscription string
	Account                                   string
}

func hintOf(payload []byte) hint {
	var e struct {
		Data struct {
			Object map[string]json.RawMessage `json:"object"`
		} `json:"data"`
	}

	_ = json.Unmarshal(payload, &e) // an unreadable payload yields an empty hint
	text := func(key string) (s string) {
		_ = json.Unmarshal(e.Data.Object[key], &s)
		return s
	}

	h := hint{
		Object: text("object"), ID: text("id"), Charge: text("charge"), Invoice: text("invoice"),
		Subscription: text("subscription"), Account: text("account"),
	}
	switch h.Object {
	case "charge":
		h.Charge = h.ID
	case "invoice":
		h.Invoice = h.ID
	}

	return h
}

// readSplit reads a payment and its refunds from Stripe. It returns nil for a payment that belongs to none of our sales
// or has no invoice.
func (s *Service) readSplit(ctx context.Context, org id.ID, account, charge string) (*Split, error) {
	p := &stripe.ChargeParams{Params: billing.Params(ctx, "")}
	p.SetStripeAccount(account)
	for _, path := range []string{"balance_transaction", "invoice", "refunds.data.balance_transaction"} {
		p.AddExpand(path)
	}

	ch, err := billing.FromStripe(s.Stripe.Charges.Get(charge, p))
	if err != nil {
		return nil, err
	}
	if !ch.Paid || ch.Invoice == nil || ch.Invoice.Subscription == nil || ch.BalanceTransaction == nil {
		return nil, nil //nolint:nilnil // nothing of ours is no error
	}

	var sale id.ID
	err = s.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx,
			`SELECT id FROM connect_sale WHERE org_id = $1 AND account = $2 AND subscription_id = $3`,
			[]any{org, account, ch.Invoice.Subscription.ID}, &sale)
	})
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // the reseller's own business
	}
	if err != nil {
		return nil, fmt.Errorf("read sale: %w", err)
	}

	b := ch.BalanceTransaction
	x := &Split{
		Invoice: ch.Invoice.ID, Sale: sale, Account: account, Charge: ch.ID, Currency: upperText(b.Currency),
		Gross: b.Amount, Net: b.Net, PaidAt: billing.UnixTime(ch.Created),
	}
	for _, d := range b.FeeDetails {
		if d.Type == "application_fee" {
			x.ApplicationFee += d.Amount
		}
	}

	x.StripeFee = b.Fee - x.ApplicationFee // includes Stripe's taxes
	if d := ch.Invoice.SubscriptionDetails; d != nil {
		x.FeeBPS, _ = strconv.ParseInt(d.Metadata[feeMark], 10, 64) // absent: no fee was configured
	}
	if ch.Refunds != nil {
		for _, r := range ch.Refunds.Data {
			if r.BalanceTransaction != nil {
				x.Refunded -= r.BalanceTransaction.Amount
			}
		}
	}
	if ch.ApplicationFee != nil {
		x.Fee = ch.ApplicationFee.ID
		fee, err := billing.FromStripe(s.Stripe.ApplicationFees.Get(x.Fee,
			&stripe.ApplicationFeeParams{Params: billing.Params(ctx, "")}))
		if err != nil {
			return nil, err
		}
		x.FeeRefunded = proportion(x.ApplicationFee, fee.AmountRefunded, fee.Amount) // in the settlement currency
	}

	return x, nil
}

// proportion returns amount * part / whole, rounded to the nearest integer. All arguments must be at least 0, and part
// at most whole.
func proportion(amount, part, whole int64) int64 {
	if whole <= 0 {
		return 0
	}

	hi, lo := bits.Mul64(uint64(amount), uint64(part))
	quotient, rest := bits.Div64(hi, lo, uint64(whole))
	if rest >= uint64(whole)-rest {
		quotient++
	}

	return int64(quotient)
}

// workPayment processes an event about a payment, an invoice or a fee: it reads the payment from Stripe and stores it.
func (s *Service) workPayment(ctx context.Context, org id.ID, account string, h hint,
	mark func(outcome string) func(context.Context, *postgres.Tx) error,
) error {
	var x *Split
	outcome := "ignored"
	if h.Charge != "" && (h.Object != "charge" || h.Invoice != "") {
		var err error
		switch x, err = s.readSplit(ctx, org, account, h.Charge); {
		case LostAccess(err): // access was revoked: the payment can no longer be read
			outcome = "refused"
		case err != nil:
			return err
		case x != nil:
			outcome = "applied"
		}
	}

	return s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		if x != nil {
			keepSplit(tx, x, s.Timestamp())
		}
		return mark(outcome)(ctx, tx)
	})
}

// WorkFee processes an event of the platform about a fee of a connected account's payment.
func (s *Service) WorkFee(ctx context.Context, org id.ID, e *billing.Event,
	mark func(outcome string) func(context.Context, *postgres.Tx) error,
) error {
	h := hintOf(e.Payload)
	return s.workPayment(ctx, org, h.Account, h, mark)
}

// workSale processes an event about a subscription: it records that one of our sales has ended.
func (s *Service) workSale(ctx context.Context, org id.ID, account string, h hint,
	mark func(outcome string) func(context.Context, *postgres.Tx) error,
) error {
	var sale []*Sale
	err := s.App.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		sale, err = listSales(ctx, tx, `account = $2 AND subscription_id = $3 AND state = 'active'`, account, h.ID)
		return err
	})
	if err != nil {
		return err
	}

	ended := false
	if len(sale) > 0 {
		p := &stripe.SubscriptionParams{Params: billing.Params(ctx, "")}
		p.SetStripeAccount(account)
		got, err := billing.FromStripe(s.Stripe.Subscriptions.Get(h.ID, p))
		switch {
		case err != nil && !LostAccess(err):
			return err
		case err == nil:
			ended = got.Status == stripe.SubscriptionStatusCanceled ||
				got.Status == stripe.SubscriptionStatusIncompleteExpired
		}
	}

	return s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		if ended {
			tx.Queue(`UPDATE connect_sale SET state = 'ended', updated_at = $3 WHERE org_id = $1 AND id = $2
				AND state = 'active'`, org, sale[0].ID, s.Timestamp())
			s.Audit(ctx, tx, billing.Act{Action: "connect.sale_ended", Target: "connect_sale", ID: sale[0].ID.String()})
		}
		return mark("applied")(ctx, tx)
	})
}

func upperText[T ~string](s T) string { return strings.ToUpper(string(s)) }
