package stripe

const kindBalanceTransaction kind = "balance_transaction"

// balanceTransaction is the effect of a payment or a refund on the balance of its account.
type balanceTransaction struct {
	head
	Amount    int64  `json:"amount"`
	Available int64  `json:"available_on"`
	Currency  string `json:"currency"`
	Fee       int64  `json:"fee"`
	Net       int64  `json:"net"`
	Category  string `json:"reporting_category"`
	Source    string `json:"source"`
	Status    string `json:"status"`
	Type      string `json:"type"`
	Own       struct {
		Application int64 `json:"application"` // the platform's part of Fee
	} `json:"_"`
}

func (*balanceTransaction) objectKind() kind { return kindBalanceTransaction }

func (b *balanceTransaction) addDerived(_ *tx, w shown, _ expansion) {
	delete(w, "metadata")
	details := []shown{}
	if b.Own.Application != 0 {
		details = append(details,
			shown{
				"amount": b.Own.Application, "application": "ca_sandbox", "currency": b.Currency,
				"description": "Sandbox application fee", "type": "application_fee",
			})
	}

	if rest := b.Fee - b.Own.Application; rest != 0 {
		details = append(details,
			shown{
				"amount": rest, "application": nil, "currency": b.Currency, "description": "Stripe processing fees",
				"type": "stripe_fee",
			})
	}

	w["fee_details"] = details
}

// stripeFee returns Stripe's fee on a payment: 2.9 percent and 30 minor units, but at most what remains after the
// platform's fee.
func stripeFee(amount, application int64) int64 {
	return max(min(shareOfAmount(amount, 290, 10000)+30, amount-application), 0)
}

// balanceOf books a payment on the balance of its account. Stripe's own fee is booked only in the ledger of connected
// accounts, since tests of the platform count what its customers pay.
func (tx *tx) balanceOf(ch *charge, application int64) {
	b := &balanceTransaction{
		head: head{ID: newID("txn")}, Amount: ch.Amount, Available: tx.now, Currency: ch.Currency, Category: "charge",
		Source: ch.ID, Status: "available", Type: "charge",
	}
	own := stripeFee(ch.Amount, application)
	b.Fee = own + application
	b.Own.Application = application
	b.Net = b.Amount - b.Fee
	ch.Transaction = text(b.ID)
	tx.put(b)
	if tx.account != "" && own != 0 {
		tx.recordMovement(Movement{
			At: tx.now, Kind: "stripe_fee", Amount: -own, Currency: ch.Currency,
			Invoice: string(ch.Invoice), Object: b.ID,
		})
	}
}

// balanceBack books a refund. Stripe keeps its fee.
func (tx *tx) balanceBack(r *refund) {
	b := &balanceTransaction{
		head: head{ID: newID("txn")}, Amount: -r.Amount, Available: tx.now, Currency: r.Currency, Net: -r.Amount,
		Category: "refund", Source: r.ID, Status: "available", Type: "refund",
	}
	r.Transaction = text(b.ID)
	tx.put(b)
}
