package stripe_test

import (
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

var histories = flag.Int("histories", 150/slower, "random histories of each property")

var unitAmounts = []int64{0, 1, 99, 999, 1999, 2900, 7301, 9900, 29900, 1_000_003}

// TestChainsOfChangesConserve makes changes at random times within a period. Each bills the amount of its preview, and
// the sum of all lines differs from the exact sum by at most half a unit for each line.
func TestChainsOfChangesConserve(t *testing.T) {
	t.Parallel()
	for seed := range uint64(*histories) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t)
		var prices []*api.Price
		for range 4 {
			prices = append(prices, w.price(unitAmounts[1+r.IntN(len(unitAmounts)-1)], "month"))
		}
		cus := w.customer()
		s := w.subscribe(cus.ID, prices[0])
		length := s.CurrentPeriodEnd - s.CurrentPeriodStart
		exact, sum, lines, at := new(big.Rat), int64(0), int64(0), int64(0)
		unit := prices[0].UnitAmount
		for range 1 + r.IntN(8) {
			step := r.Int64N((length - at) / 2)
			at += step
			w.advance(time.Duration(step) * time.Second)
			to := prices[r.IntN(len(prices))]
			if to.ID == s.Items.Data[0].Price.ID {
				continue
			}
			previewed := w.preview(s, to)
			before := must(w.sc.Customers.Get(cus.ID, nil))(t).Balance
			p := swap(s, to)
			p.ProrationDate = api.Int64(previewed.SubscriptionProrationDate)
			s = must(w.sc.Subscriptions.Update(s.ID, p))(t)
			inv := s.LatestInvoice
			if inv.Total != previewed.Total || inv.AmountDue != previewed.AmountDue {
				t.Fatalf("seed %d: charged %d of %d, previewed %d of %d", seed, inv.AmountDue, inv.Total,
					previewed.AmountDue, previewed.Total)
			}
			if inv.StartingBalance != before {
				t.Fatalf("seed %d: starting balance %d, want %d", seed, inv.StartingBalance, before)
			}
			left := big.NewRat(length-at, length)
			exact.Add(exact, new(big.Rat).Mul(left, big.NewRat(to.UnitAmount-unit, 1)))
			sum, lines, unit = sum+inv.Total, lines+2, to.UnitAmount
		}
		off := new(big.Rat).Sub(new(big.Rat).SetInt64(sum), exact)
		if off.Abs(off).Cmp(big.NewRat(lines, 2)) > 0 {
			t.Errorf("seed %d: off by %s after %d lines", seed, off.FloatString(3), lines)
		}
	}
}

// TestNoHistoryMakesOrLosesMoney executes random operations and then audits the state: every invoice adds up, every
// paid invoice was charged once, and balances are the sums of their entries.
func TestNoHistoryMakesOrLosesMoney(t *testing.T) {
	t.Parallel()
	for seed := range uint64(*histories) {
		r := rand.New(rand.NewPCG(seed, 2))
		w := newWorld(t)
		h := &history{world: w, r: r, cus: w.customer()}
		for _, unit := range unitAmounts {
			h.prices = append(h.prices, w.price(unit, "month"))
		}
		h.prices = append(h.prices, w.price(29000, "year"), w.price(99000, "year"))
		for range 25 {
			h.log = append(h.log, h.step())
		}
		h.count(seed)
		if t.Failed() {
			t.Fatalf("seed %d: %v", seed, h.log)
		}
	}
}

type history struct {
	*world
	r      *rand.Rand
	cus    *api.Customer
	prices []*api.Price
	log    []string
}

func (h *history) step() string {
	live := h.live()
	if live == nil {
		p := &api.SubscriptionParams{
			Customer: api.String(h.cus.ID), Items: []*api.SubscriptionItemsParams{{Price: api.String(h.any().ID)}},
			PaymentBehavior: api.String([]string{
				"allow_incomplete", "default_incomplete",
				"error_if_incomplete",
			}[h.r.IntN(3)]),
		}
		if h.r.IntN(4) == 0 {
			p.TrialPeriodDays = api.Int64(7)
		}
		_, err := h.sc.Subscriptions.New(p)
		return fmt.Sprint("begin ", err)
	}
	switch h.r.IntN(11) {
	case 0, 1, 2:
		p := swap(live, h.any())
		p.ProrationBehavior = api.String([]string{
			"always_invoice", "always_invoice", "create_prorations",
			"none",
		}[h.r.IntN(4)])
		if h.r.IntN(3) == 0 {
			p.PaymentBehavior = api.String("allow_incomplete")
		}
		p.Items[0].Quantity = api.Int64(int64(h.r.IntN(4)))
		_, err := h.sc.Subscriptions.Update(live.ID, p)
		return fmt.Sprint("change ", err)
	case 3:
		to := []stripe.Conduct{stripe.Works, stripe.Works, stripe.Decline, stripe.ThreeDS}[h.r.IntN(4)]
		h.card(h.cus.ID, to)
		return fmt.Sprint("card ", to)
	case 4, 5, 6:
		by := time.Duration(h.r.Int64N(int64(40 * 24 * time.Hour)))
		h.advance(by)
		return fmt.Sprint("advance ", by)
	case 7:
		inv := live.LatestInvoice
		if inv == nil || inv.PaymentIntent == nil {
			return "nothing to pay"
		}
		if inv.PaymentIntent.Status == "requires_action" {
			return fmt.Sprint("confirm ", h.s.Confirm(h.Context(), inv.PaymentIntent.ID, h.r.IntN(3) > 0))
		}
		_, err := h.sc.Invoices.Pay(inv.ID, nil)
		return fmt.Sprint("pay ", err)
	case 8:
		_, err := h.sc.Subscriptions.Update(live.ID,
			&api.SubscriptionParams{CancelAtPeriodEnd: api.Bool(!live.CancelAtPeriodEnd)})
		return fmt.Sprint("cancel at the end ", err)
	case 9:
		if live.LatestInvoice == nil {
			return "nothing to void"
		}
		_, err := h.sc.Invoices.VoidInvoice(live.LatestInvoice.ID, nil)
		return fmt.Sprint("void ", err)
	default:
		if h.r.IntN(4) > 0 {
			return "nothing"
		}
		_, err := h.sc.Subscriptions.Cancel(live.ID, nil)
		return fmt.Sprint("cancel ", err)
	}
}

func (h *history) any() *api.Price { return h.prices[h.r.IntN(len(h.prices))] }

func (h *history) live() *api.Subscription {
	it := h.sc.Subscriptions.List(&api.SubscriptionListParams{Customer: api.String(h.cus.ID)})
	if !it.Next() {
		return nil
	}
	return h.sub(it.Subscription().ID)
}

// count audits the state.
func (h *history) count(seed uint64) {
	charged := map[string]int64{}
	for _, m := range must(h.s.Ledger(h.Context(), "", h.cus.ID))(h) {
		if _, twice := charged[m.Invoice]; twice {
			h.Errorf("seed %d: %s was charged twice", seed, m.Invoice)
		}
		charged[m.Invoice] += m.Amount
	}
	entries := int64(0)
	bt := h.sc.CustomerBalanceTransactions.List(
		&api.CustomerBalanceTransactionListParams{Customer: api.String(h.cus.ID)})
	for bt.Next() {
		entries += bt.CustomerBalanceTransaction().Amount
	}
	if got := must(h.sc.Customers.Get(h.cus.ID, nil))(h).Balance; got != entries {
		h.Errorf("seed %d: the balance is %d, its entries are %d", seed, got, entries)
	}
	for it := h.sc.Invoices.List(&api.InvoiceListParams{Customer: api.String(h.cus.ID)}); it.Next(); {
		inv := it.Invoice()
		lines := int64(0)
		for _, l := range inv.Lines.Data {
			lines += l.Amount
		}
		paid := int64(0)
		if inv.Status == "paid" {
			paid = inv.AmountDue
		}
		switch {
		case lines != inv.Total,
			inv.Status != "draft" && inv.Total+inv.StartingBalance != inv.AmountDue+inv.EndingBalance,
			inv.AmountPaid != paid, charged[inv.ID] != paid, inv.AmountRemaining != inv.AmountDue-paid:
			h.Errorf("seed %d: %s is %s: lines %d, total %d, balance %d to %d, due %d, paid %d, charged %d", seed,
				inv.ID, inv.Status, lines, inv.Total,
				inv.StartingBalance, inv.EndingBalance, inv.AmountDue, inv.AmountPaid, charged[inv.ID])
		}
	}
}
