package change

import (
	"slices"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// Request is a request to change to a plan.
type Request struct {
	Plan, Interval string
	When           string // Now or PeriodEnd; "": Now for an upgrade, PeriodEnd for a downgrade
	Preview        *id.ID // the accepted preview; nil: accept any amount
}

// choosablePlans returns the keys of the plans that an org may choose.
func (s *Service) choosablePlans() []string {
	var keys []string
	for i := range s.Catalogue.Plans {
		if p := &s.Catalogue.Plans[i]; p.Selectable() {
			keys = append(keys, p.Key)
		}
	}
	return keys
}

// checkAllowed returns an error for a plan that no org can choose.
func (s *Service) checkAllowed(w Request) error {
	p, ok := s.Catalogue.Plan(w.Plan)
	switch {
	case ok && p.CustomPricing:
		return fault.New(fault.ContactSales, "This plan is sold by our sales team; please contact them.")
	case !ok || !p.Selectable():
		return fault.Invalid("plan", "unknown_plan",
			fault.Choices("There is no such plan to choose.", w.Plan, s.choosablePlans()))
	default:
		return nil
	}
}

// timingOf returns when the requested change takes effect.
func (s *Service) timingOf(live *billing.StripeSubscription, w Request) string {
	switch {
	case !live.Live():
		return billing.Start
	case w.When != "":
		return w.When
	case s.planRank(w.Plan, w.Interval) > s.planRank(live.Plan, live.Interval):
		return billing.Now
	default:
		return billing.PeriodEnd
	}
}

// planRank orders plans as the catalogue lists them; within a plan, the year ranks above the month.
func (s *Service) planRank(plan, interval string) int {
	at := slices.IndexFunc(s.Catalogue.Plans, func(p plans.Plan) bool { return p.Key == plan })
	if interval == "year" {
		return 2*at + 1
	}
	return 2 * at
}

func (s *Service) currencyOf(d *billing.AccountState, h *billing.StripeSubscription) string {
	if h != nil {
		if p, ok := d.Tariff.ByID[h.Price]; ok {
			return p.Currency
		}
	}
	return s.Catalogue.Currency
}

// itemsOf returns the subscription's current items.
func itemsOf(h *billing.StripeSubscription) []billing.Item {
	all := []billing.Item{{ID: h.Item, Price: h.Price, Quantity: h.Quantity}}
	if h.OverageItem != "" {
		all = append(all, billing.Item{ID: h.OverageItem, Price: h.OveragePrice, Quantity: h.OverageQuantity})
	}
	return all
}

// itemsAfter returns the subscription's items after a change to a plan. The base item is swapped, and so is the item of
// client orgs above the plan's limit. If the new plan sells no such item, it stays with quantity 0, because an update
// that waits for its payment may not remove an item. Only a different interval removes it, because a subscription's
// items must all have the same interval.
func itemsAfter(d *billing.AccountState, plan, interval string) ([]billing.Item, error) {
	p, err := d.Tariff.Find(billing.BasePrice, plan, interval)
	if err != nil {
		return nil, err
	}

	live := d.Live()
	if live == nil {
		return []billing.Item{{Price: p.ID, Quantity: 1}}, nil
	}

	all := []billing.Item{{ID: live.Item, Price: p.ID, Quantity: max(live.Quantity, 1)}}
	if live.OverageItem == "" {
		return all, nil
	}

	o, sells := d.Tariff.Current[billing.Sold{Kind: billing.OveragePrice, Plan: plan, Interval: interval}]
	switch {
	case sells:
		all = append(all, billing.Item{ID: live.OverageItem, Price: o.ID, Quantity: live.OverageQuantity})
	case interval == live.Interval:
		all = append(all, billing.Item{ID: live.OverageItem, Price: live.OveragePrice})
	default:
		all = append(all, billing.Item{ID: live.OverageItem, Deleted: true})
	}

	return all, nil
}

// phaseItems returns items in the form of a schedule's phase: by price, without ids.
func phaseItems(items []billing.Item) []billing.Item {
	var out []billing.Item
	for _, i := range items {
		if !i.Deleted && i.Quantity > 0 {
			out = append(out, billing.Item{Price: i.Price, Quantity: i.Quantity})
		}
	}
	return out
}

func itemUpdates(items []billing.Item) []*stripe.SubscriptionItemsParams {
	var out []*stripe.SubscriptionItemsParams
	for _, i := range items {
		p := &stripe.SubscriptionItemsParams{ID: stripe.String(i.ID)}
		if i.Deleted {
			p.Deleted = stripe.Bool(true)
		} else {
			p.Price = stripe.String(i.Price)
			p.Quantity = stripe.Int64(i.Quantity)
		}

		out = append(out, p)
	}

	return out
}
