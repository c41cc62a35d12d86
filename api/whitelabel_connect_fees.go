package api

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

type feesOut struct {
	Body httpx.List[connectFee]
}

// connectFee is one invoice: gross = net + application_fee + stripe_fee.
type connectFee struct {
	InvoiceID              string    `json:"invoice_id" doc:"ID at the payment processor"`
	SaleID                 id.ID     `json:"sale_id" format:"uuid" doc:"The sale to the client"`
	Gross                  int64     `json:"gross" doc:"Amount paid by the client, in minor units"`
	Net                    int64     `json:"net" doc:"The reseller's share"`
	ApplicationFee         int64     `json:"application_fee" doc:"The platform's share"`
	StripeFee              int64     `json:"stripe_fee" doc:"The payment processor's fee, including taxes"`
	Percent                string    `json:"application_fee_percent" doc:"At the invoice's creation; two decimals"`
	Refunded               int64     `json:"refunded" doc:"Refunded from gross since, by the reseller"`
	ApplicationFeeRefunded int64     `json:"application_fee_refunded" doc:"Refunded by the platform since"`
	Currency               string    `json:"currency" doc:"ISO 4217: currency in which the payment processor settles"`
	PaidAt                 wire.Time `json:"paid_at" format:"date-time" doc:"When the client paid the invoice"`
}

type feePlace struct {
	At      wire.Time
	Invoice string
}

// listFees returns the stored invoices, latest payment first, without calling the payment processor.
func (a *App) listFees(ctx context.Context, in *httpx.PageInput) (*feesOut, error) {
	from, err := httpx.After[feePlace](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}
	if from == nil {
		from = &feePlace{At: wire.At(time.Unix(0, 0))}
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*feesOut, error) {
		rows, err := connect.Splits(ctx, tx, from.At.Time, from.Invoice, in.Limit+1)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows, showFee, func(x connect.Split) feePlace {
			return feePlace{wire.At(x.PaidAt), x.Invoice}
		})
		if err == nil {
			err = in.Add(ctx, tx, &l.Total, connect.CountSplits)
		}

		return &feesOut{l}, err
	})
}

func showFee(x connect.Split) connectFee {
	return connectFee{
		InvoiceID: x.Invoice, SaleID: x.Sale, Gross: x.Gross, Net: x.Net, ApplicationFee: x.ApplicationFee,
		StripeFee: x.StripeFee, Percent: plans.Percent(x.FeeBPS),
		Refunded: x.Refunded, ApplicationFeeRefunded: x.FeeRefunded, Currency: x.Currency, PaidAt: wire.At(x.PaidAt),
	}
}
