package stripe

const kindBalanceTransaction kind = "balance_transaction"

// balanceTransaction is what a payment or a refund does to the balance of whom it belongs to.
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
		Application int64 `json:"application"` // the part of Fee that is the platform's
	} `json:"_"`
}

func (*balanceTransaction) kind() kind { return kindBalanceTransaction }

func (b *balanceTransaction) wire(_ *tx, w shown, _ expansion) {
	delete(w, "metadata")
	details := []shown{}
	if b.Own.Application != 0 {
		details = append(details, shown{"amount": b.Own.Application, "application": "ca_sandbox", "currency": b.Currency, "description": "Sandbox application fee", "type": "application_fee"})
	}
	if rest := b.Fee - b.Own.Application; rest != 0 {
		details = append(details, shown{"amount": rest, "application": nil, "currency": b.Currency, "description": "Stripe processing fees", "type": "stripe_fee"})
	}
	w["fee_details"] = details
}

// processing is what Stripe takes of a payment: 2.9 percent and 30 minor units, and of small ones not more than there is
// after the platform's fee.
func processing(amount, application int64) int64 {
	return max(min(part(amount, 290, 10000)+30, amount-application), 0)
}

// balanceOf books a payment on the balance of whom it belongs to. Stripe's own fee is in the ledger of connected accounts
// alone: what the platform's customers pay is what tests of the platform count.
func (tx *tx) balanceOf(ch *charge, application int64) {
	b := &balanceTransaction{
		head: head{ID: newID("txn")}, Amount: ch.Amount, Available: tx.now, Currency: ch.Currency, Category: "charge", Source: ch.ID, Status: "available", Type: "charge",
	}
	own := processing(ch.Amount, application)
	b.Fee, b.Own.Application = own+application, application
	b.Net = b.Amount - b.Fee
	ch.Transaction = text(b.ID)
	tx.put(b)
	if tx.account != "" && own != 0 {
		tx.book(Movement{At: tx.now, Kind: "stripe_fee", Amount: -own, Currency: ch.Currency, Invoice: string(ch.Invoice), Object: b.ID})
	}
}

// balanceBack books a refund. Stripe keeps its fee.
func (tx *tx) balanceBack(r *refund) {
	b := &balanceTransaction{
		head: head{ID: newID("txn")}, Amount: -r.Amount, Available: tx.now, Currency: r.Currency, Net: -r.Amount, Category: "refund", Source: r.ID, Status: "available", Type: "refund",
	}
	r.Transaction = text(b.ID)
	tx.put(b)
}
