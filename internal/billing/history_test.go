package billing_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

// histories is the number of random histories; the long run uses -histories=10000.
var histories = flag.Int("histories", 40/min(slower, 5), "random histories to live")

// history is the random history of one org.
type history struct {
	*world
	other *world // gets only some of the same events
	seed  uint64
	r     *rand.Rand
	org   id.ID
	last  change.Request
	open  *change.Answer // awaits the customer
	held  []stripe.Outgoing
	all   []stripe.Outgoing
	had   map[string]bool // plans and intervals that the org has ever had at Stripe
	paid  string          // the paid plan last seen at Stripe; "": none
	told  []string        // log of the steps, for debugging
}

// TestRandomHistoriesKeepTheirPromises lets orgs change plans, repeat requests, be declined, confirm, cancel, jump in
// time and lose events, while the process dies and Stripe fails at every point. After every step it checks: at most one
// live subscription, no plan without payment, no plan lost before its paid period ends. At the end, after recovery and
// one sync, it checks: our state equals Stripe's, each invoice of a change was charged once and belongs to one change,
// and a second database that received four fifths of the events, shuffled and partly duplicated, has the same state
// after one sync.
func TestRandomHistoriesKeepTheirPromises(t *testing.T) {
	t.Parallel()
	const (
		workers = 4
		age     = 25 // histories per world; time steps visit all orgs of a world
	)
	lives := *histories
	if testing.Short() { // with the race detector
		lives /= 4
	}
	var compared atomic.Int64
	t.Run("worker", func(t *testing.T) {
		for n := range workers {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				share := max(lives/workers, 1)
				for first := 0; first < share && !t.Failed(); first += age {
					t.Run(strconv.Itoa(first), func(t *testing.T) {
						w := begin(t)
						other := w.twin()
						for i := first; i < min(first+age, share); i++ {
							seed := rand.NewPCG(uint64(n), uint64(i))
							h := &history{
								world: w, other: other, seed: uint64(i), r: rand.New(seed), org: w.org(),
								had: map[string]bool{"trial": true},
							}
							h.live()
							if h.same() {
								compared.Add(1)
							}
							if t.Failed() {
								t.Fatalf("worker %d, history %d", n, i)
							}
						}
					})
				}
			})
		}
	})
	if n := compared.Load(); n < int64(lives/4) {
		t.Errorf("only %d of %d histories end with a subscription to compare", n, lives)
	}
}

func (h *history) live() {
	h.Helper()
	defer func() {
		if h.Failed() {
			h.Logf("history %d: %s", h.seed, strings.Join(h.told, "; "))
		}
	}()
	for range 6 + h.r.IntN(14) {
		h.step()
		h.promises()
		if h.Failed() {
			return
		}
	}
	h.box.Mend()
	h.mu.Lock()
	h.crash = nil
	h.mu.Unlock()
	h.pass(time.Minute)
	h.recover()
	if _, err := h.billing.Refresh(h.Context(), h.org, "sync"); err != nil {
		h.Fatalf("%v: %v", h.told, err)
	}
	h.promises()
	h.settled()
}

// same compares the second database with the first. It returns false if there is nothing to compare: a database that
// has never seen a subscription gets no event about one that has ended.
func (h *history) same() bool {
	h.Helper()
	h.all = append(h.all, h.outbox()...)
	if h.Failed() || h.count("SELECT count(*) FROM stripe_subscription WHERE org_id = $1 AND live", h.org) == 0 {
		return false
	}
	o := h.other
	o.mu.Lock()
	o.at = h.now()
	o.mu.Unlock()
	o.meets(h.org, h.customer(h.org))
	o.deliver(shuffled(h.seed, h.all)...)
	o.work()
	if _, err := o.billing.Refresh(h.Context(), h.org, "sync"); err != nil {
		h.Fatalf("%v: %v", h.told, err)
	}
	if is, want := o.hash(h.org), h.hash(h.org); is != want {
		h.Errorf("what is left of the events leads to %q, all of them to %q", o.state(h.org), h.state(h.org))
	}
	return true
}

func (h *history) note(format string, args ...any) {
	h.told = append(h.told, fmt.Sprintf(format, args...))
}

// step runs one random action of an org.
func (h *history) step() {
	h.Helper()
	h.mishap()
	switch h.r.IntN(12) {
	case 0, 1, 2:
		h.last = change.Request{Plan: keys[h.r.IntN(len(keys))], Interval: intervals[h.r.IntN(2)]}
		if h.r.IntN(3) == 0 {
			h.last.When = []string{billing.Now, billing.PeriodEnd}[h.r.IntN(2)]
		}
		h.ask()
	case 3:
		if h.last.Plan != "" {
			h.ask()
		}
	case 4:
		if h.known() {
			to := []stripe.Conduct{stripe.Works, stripe.Works, stripe.Decline, stripe.ThreeDS}[h.r.IntN(4)]
			h.card(h.org, to)
			h.note("card %s", to)
		}
	case 5:
		if h.open != nil {
			yes := h.r.IntN(3) > 0
			intent, _, _ := strings.Cut(h.open.ClientSecret, "_secret_")
			h.note("confirm %v: %v", yes, h.box.Confirm(h.Context(), intent, yes))
			h.open = nil
		}
	case 6:
		_, err := h.billing.Cancel(h.Context(), h.org, change.Call{})
		h.came("cancel", err)
	case 7:
		_, err := h.billing.Resume(h.Context(), h.org, change.Call{})
		h.came("resume", err)
	case 8:
		d := time.Duration(h.r.IntN(45*24)) * time.Hour / time.Duration(1+h.r.IntN(20))
		h.note("%s pass", d)
		h.pass(d)
	case 9, 10:
		h.events()
	case 11:
		h.pass(31 * time.Second)
		h.recoverSome()
	}
}

// mishap sometimes arranges a failure.
func (h *history) mishap() {
	switch h.r.IntN(5) {
	case 0:
		point := []string{"begun", "asked", "closing", "closed"}[h.r.IntN(4)]
		h.dies(point)
		h.note("will die when %s", point)
	case 1:
		kind := []stripe.FaultKind{
			stripe.RateLimited, stripe.LockTimeout, stripe.InUse, stripe.Internal,
			stripe.ActedError, stripe.CutBefore, stripe.CutAfter,
		}[h.r.IntN(7)]
		h.box.Break(stripe.Fault{
			Kind: kind, Method: http.MethodPost, Path: "/v1/subscription", Skip: h.r.IntN(2),
			Times: 1 + h.r.IntN(2),
		})
		h.note("stripe will %s", kind)
	}
}

func (h *history) known() bool {
	return h.count("SELECT count(*) FROM billing_customer WHERE org_id = $1 AND stripe_id IS NOT NULL", h.org) == 1
}

func (h *history) ask() {
	h.Helper()
	wish := h.last
	if h.r.IntN(3) == 0 {
		if p, err := h.billing.Preview(h.Context(), h.org, wish, nil); err == nil {
			wish.Preview = &p.ID
		}
	}
	a, err := h.billing.Change(h.Context(), h.org, wish, change.Call{})
	if a != nil {
		h.note("%s by the %s %s: %s", wish.Plan, wish.Interval, wish.When, a.Status)
		if a.Status == billing.ActionRequired {
			h.open = a
		}
		return
	}
	h.came(wish.Plan+" by the "+wish.Interval+" "+wish.When, err)
}

// came records an error, which must be a fault that a caller may see, or the death of the process.
func (h *history) came(what string, err error) {
	h.Helper()
	h.note("%s: %v", what, err)
	if err == nil || errors.Is(err, errCrash) || fault.Of(err) != nil {
		return
	}
	if billing.Away(err) {
		return
	}
	h.Errorf("%s: %v", what, err)
}

// events takes Stripe's events and loses, duplicates and shuffles them.
func (h *history) events() {
	h.Helper()
	fresh := h.outbox()
	h.all = append(h.all, fresh...)
	all := slices.Concat(h.held, fresh)
	h.held = nil
	h.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	n := 0
	for _, o := range all {
		switch h.r.IntN(10) {
		case 0, 1: // lost
		case 2: // late
			h.held = append(h.held, o)
		case 3:
			h.deliver(o, o)
			n += 2
		default:
			h.deliver(o)
			n++
		}
	}
	h.note("%d events", n)
	h.mu.Lock()
	todo := h.hooks
	h.hooks = nil
	h.mu.Unlock()
	for _, event := range todo {
		var org id.ID
		if err := h.sql.QueryRow(h.Context(), "SELECT org_id FROM stripe_event WHERE id = $1", event).
			Scan(&org); err != nil {
			h.Fatal(err)
		}
		if err := h.billing.Work(h.Context(), org, event); errors.Is(err, sync.ErrLater) {
			h.mu.Lock()
			h.hooks = append(h.hooks, event)
			h.mu.Unlock()
		} else if err != nil && !billing.Away(err) {
			h.Errorf("work: %v", err)
		}
	}
}

// recoverSome runs the jobs of changes in flight, which may fail again.
func (h *history) recoverSome() {
	h.Helper()
	var change id.ID
	if err := h.sql.QueryRow(h.Context(), "SELECT id FROM plan_change WHERE org_id = $1 AND state = 'in_flight'",
		h.org).Scan(&change); err != nil {
		return
	}
	err := h.billing.Recover(h.Context(), h.org, change)
	h.came("recover", err)
}

// subscriptions returns the customer's subscriptions at Stripe.
func (h *history) subscriptions() (all []map[string]any) {
	h.Helper()
	if !h.known() {
		return nil
	}
	data, _ := h.get("/v1/subscriptions?status=all&limit=100&customer=" + h.customer(h.org))["data"].([]any)
	for _, one := range data {
		s, _ := one.(map[string]any)
		all = append(all, s)
	}
	return all
}

// planOf returns a subscription's plan and interval, from its first item.
func (h *history) planOf(s map[string]any) string {
	items, _ := s["items"].(map[string]any)
	data, _ := items["data"].([]any)
	for _, one := range data {
		item, _ := one.(map[string]any)
		price, _ := item["price"].(map[string]any)
		key, _ := price["lookup_key"].(string)
		if name, err := h.sold(key); err == nil {
			return name
		}
	}
	return "?"
}

// sold parses a lookup key: "funnelwork_solo_pro_base_month" is "solo_pro month".
func (h *history) sold(key string) (string, error) {
	for _, plan := range keys {
		for _, interval := range intervals {
			if key == "funnelwork_"+plan+"_base_"+interval {
				return plan + " " + interval, nil
			}
		}
	}
	return "", errors.New("no base price")
}

// promises checks the invariants that hold after every step.
func (h *history) promises() {
	h.Helper()
	live, theirs := 0, ""
	for _, s := range h.subscriptions() {
		switch s["status"] {
		case "active", "past_due", "unpaid", "trialing":
			live++
			h.had[h.planOf(s)] = true
			theirs = h.planOf(s) + " " + s["status"].(string)
		}
	}
	if live > 1 {
		h.Errorf("%d live subscriptions", live)
	}
	var plan, interval, status string
	if err := h.sql.QueryRow(h.Context(),
		"SELECT plan, coalesce(interval, ''), status FROM subscription WHERE org_id = $1", h.org).
		Scan(&plan, &interval, &status); err != nil {
		h.Fatal(err)
	}
	switch ours := strings.Join([]string{plan, interval, status}, " "); {
	case theirs == "":
		h.paid = ""
	case ours == theirs:
		h.paid = theirs
	case h.paid == theirs:
		h.Errorf("the org had what Stripe holds, %q, and has %q now", theirs, ours)
	}
	if name := plan; interval != "" {
		name += " " + interval
		if !h.had[name] {
			h.Errorf("the org has %s, which it never paid for", name)
		}
	}
}

// settled checks the invariants that hold after delivery, recovery and sync.
func (h *history) settled() {
	h.Helper()
	if n := h.count("SELECT count(*) FROM plan_change WHERE org_id = $1 AND state = 'in_flight'", h.org); n != 0 {
		h.Errorf("%d changes are still in flight", n)
	}
	theirs := "trial trialing"
	for _, s := range h.subscriptions() { // newest first
		if s["status"] == "active" || s["status"] == "past_due" {
			theirs = h.planOf(s) + " " + s["status"].(string)
			break
		}
		if s["status"] == "canceled" && theirs == "trial trialing" {
			theirs = h.planOf(s) + " canceled"
		}
	}
	var ours string
	if err := h.sql.QueryRow(h.Context(),
		"SELECT concat_ws(' ', plan, interval, status) FROM subscription WHERE org_id = $1", h.org).
		Scan(&ours); err != nil {
		h.Fatal(err)
	}
	if ours != theirs {
		h.Errorf("we hold %q, Stripe holds %q", ours, theirs)
	}
	if !h.known() {
		return
	}
	ledger, err := h.box.Ledger(h.Context(), "", h.customer(h.org))
	if err != nil {
		h.Fatal(err)
	}
	charges := map[string]int64{}
	for _, m := range ledger {
		if m.Kind != "charge" {
			continue
		}
		if charges[m.Invoice] != 0 {
			h.Errorf("invoice %s was charged twice", m.Invoice)
		}
		charges[m.Invoice] = m.Amount
		inv := h.get("/v1/invoices/" + m.Invoice)
		if inv["billing_reason"] == "subscription_cycle" {
			continue
		}
		if n := h.count("SELECT count(*) FROM plan_change WHERE org_id = $1 AND invoice_id = $2 AND state = "+
			"'applied' AND amount_due = $3", h.org, m.Invoice, m.Amount); n != 1 {
			h.Errorf("%d changes have the invoice %s of %d (%v)", n, m.Invoice, m.Amount, inv["billing_reason"])
		}
	}
	if n := h.count(
		"SELECT count(*) FROM plan_change WHERE org_id = $1 AND state = 'applied' AND amount_due > amount_expected",
		h.org); n != 0 {
		h.Errorf("%d changes cost more than was shown", n)
	}
}
