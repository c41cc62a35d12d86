package billing

import (
	"context"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Invoice is an invoice of the payment processor for the org's subscription.
type Invoice struct {
	ID          string    `json:"id" doc:"Id that the payment processor has given it"`
	Number      *string   `json:"number" doc:"Number on the invoice; null for a draft"`
	Status      string    `json:"status" enum:"draft,open,paid,uncollectible,void"`
	Currency    string    `json:"currency" doc:"Currency of the amounts, ISO 4217"`
	AmountDue   int64     `json:"amount_due" doc:"Amount to pay, in minor units of the currency"`
	AmountPaid  int64     `json:"amount_paid" doc:"Amount paid so far, in minor units of the currency"`
	PeriodStart wire.Time `json:"period_start" format:"date-time" doc:"Start of the period in which items were added"`
	PeriodEnd   wire.Time `json:"period_end" format:"date-time" doc:"End of that period"`
	CreatedAt   wire.Time `json:"created_at" format:"date-time" doc:"When the invoice was created"`
	HostedURL   *string   `json:"hosted_invoice_url" doc:"Page to view and pay it, for whoever knows it; null: none"`
	PDFURL      *string   `json:"pdf_url" doc:"The invoice as PDF, for whoever knows the address; null: none"`
}

// Descriptions implements wire.Describer.
func (Invoice) Descriptions() map[string]string {
	return map[string]string{"status": "State of the invoice: open is to be paid; void and uncollectible are not"}
}

const (
	// invoicesTime is the timeout of Invoices, retries included.
	invoicesTime = 10 * time.Second
	// stripePage is the maximum number of objects in one page of Stripe's lists.
	stripePage = 100
)

// Invoices returns at most limit invoices of the org, newest first, beginning after the one named after; "" begins at
// the newest. It reads them from Stripe and stores nothing, since an invoice changes there. An org without a customer
// at Stripe, such as a client org, has none. Errors are for AsFault.
func (s *Service) Invoices(ctx context.Context, org id.ID, after string, limit int) ([]Invoice, error) {
	d, err := s.ReadState(ctx, org)
	if err != nil {
		return nil, err
	}

	all := []Invoice{}
	if d.Customer == "" {
		return all, nil
	}

	ctx, cancel := context.WithTimeout(ctx, invoicesTime)
	defer cancel()

	p := &stripe.InvoiceListParams{Customer: &d.Customer}
	p.Context = ctx
	p.Limit = stripe.Int64(int64(min(limit, stripePage)))
	if after != "" {
		p.StartingAfter = &after
	}

	page := s.Stripe.Invoices.List(p)
	for len(all) < limit && page.Next() {
		all = append(all, showInvoice(page.Invoice()))
	}

	return FromStripe(all, page.Err())
}

func showInvoice(in *stripe.Invoice) Invoice {
	return Invoice{
		ID: in.ID, Number: nilIfEmpty(in.Number), Status: string(in.Status),
		Currency:  strings.ToUpper(string(in.Currency)),
		AmountDue: in.AmountDue, AmountPaid: in.AmountPaid, PeriodStart: unixSeconds(in.PeriodStart),
		PeriodEnd: unixSeconds(in.PeriodEnd), CreatedAt: unixSeconds(in.Created),
		HostedURL: nilIfEmpty(in.HostedInvoiceURL),
		PDFURL:    nilIfEmpty(in.InvoicePDF),
	}
}

func unixSeconds(unix int64) wire.Time { return wire.At(time.Unix(unix, 0)) }

// nilIfEmpty returns s, or nil if it is empty.
func nilIfEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
