package stripe

import (
	"context"
	"slices"
)

// Movement is a movement of money. Amounts are in minor units, and positive if the owner of the ledger, the platform or
// an account, receives them.
type Movement struct {
	At int64 `json:"at"` // Unix seconds by the sandbox's clock
	// charge, refund, out_of_band, stripe_fee, application_fee, fee_refund, transfer, transfer_reversal
	Kind     string `json:"kind"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	Customer string `json:"customer,omitempty"`
	Invoice  string `json:"invoice,omitempty"`
	Account  string `json:"account,omitempty"` // the other side of fees and transfers; "" is the platform
	Object   string `json:"object"`
}

type entry struct {
	head
	Movement
}

func (*entry) kind() kind { return "sandbox.movement" }

func (e *entry) marks() []string {
	return []string{mark("customer", e.Customer), mark("invoice", e.Invoice), mark("kind", e.Kind)}
}

func (tx *tx) book(m Movement) { tx.put(&entry{head: head{ID: newID("mv")}, Movement: m}) }

// across books a movement between the platform and an account, in both ledgers.
func (tx *tx) across(m Movement) {
	tx.book(m)
	account := m.Account
	m.Account, m.Amount = "", -m.Amount
	tx.in(account, func() { tx.book(m) })
}

// Ledger returns the movements of an account, or of the platform for "", the oldest first. If customer is not "", only
// the movements of that customer are returned.
func (s *Sandbox) Ledger(ctx context.Context, account, customer string) (movements []Movement, err error) {
	_, err = s.look(ctx, account, func(tx *tx) *problem {
		q := Query{}
		if customer != "" {
			q.All = []string{mark("customer", customer)}
		}
		movements = nil
		for _, e := range slices.Backward(all[entry](tx, q)) {
			movements = append(movements, e.Movement)
		}
		return nil
	})
	return movements, err
}
