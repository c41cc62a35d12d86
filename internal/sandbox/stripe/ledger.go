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

func (*entry) objectKind() kind { return "sandbox.movement" }

func (e *entry) indexKeys() []string {
	return []string{
		indexKey("customer", e.Customer), indexKey("invoice", e.Invoice),
		indexKey("kind", e.Kind),
	}
}

func (tx *tx) recordMovement(m Movement) {
	tx.put(&entry{
		head:     head{ID: newID("mv")},
		Movement: m,
	})
}

// recordBothSides books a movement between the platform and an account, in both ledgers.
func (tx *tx) recordBothSides(m Movement) {
	tx.recordMovement(m)
	account := m.Account
	m.Account = ""
	m.Amount = -m.Amount
	tx.inAccount(account, func() { tx.recordMovement(m) })
}

// Ledger returns the movements of an account, or of the platform for "", the oldest first. If customer is not "", only
// the movements of that customer are returned.
func (s *Sandbox) Ledger(ctx context.Context, account, customer string) (movements []Movement, err error) {
	_, err = s.viewState(ctx, account, func(tx *tx) *problem {
		q := Query{}
		if customer != "" {
			q.All = []string{indexKey("customer", customer)}
		}

		movements = nil
		for _, e := range slices.Backward(findAll[entry](tx, q)) {
			movements = append(movements, e.Movement)
		}

		return nil
	})
	return movements, err
}
