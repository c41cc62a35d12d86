package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func (a *App) mountConnectSales() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "connect.create_sale",
		Method: http.MethodPost, Path: connectPath + "/sales", Need: httpx.Owner, Part: httpx.PartBilling,
		Tag: connectAccountTag, Title: "Bill a client organization on the reseller's payment account",
		Status: http.StatusCreated, Also: []int{http.StatusAccepted}, Feature: plans.WhiteLabeling,
	}, a.createSale)
}

type createSaleIn struct {
	Body struct {
		ClientOrgID  id.ID  `json:"client_org_id" format:"uuid" doc:"A client organization of the reseller"`
		Email        string `json:"email" minLength:"3" maxLength:"254" doc:"Receives the invoices"`
		Name         string `json:"name" minLength:"1" maxLength:"250" doc:"Shown on the invoices"`
		Amount       int64  `json:"amount" minimum:"1" maximum:"99999999" doc:"Price per interval, in minor units"`
		Currency     string `json:"currency" pattern:"^[A-Za-z]{3}$" doc:"Currency of amount, ISO 4217"`
		Interval     string `json:"interval" enum:"month,year" doc:"How often the client is billed"`
		DaysUntilDue int    `json:"days_until_due,omitempty" required:"false" minimum:"1" maximum:"365" default:"14"`
	}
}

// Descriptions returns the long descriptions of the members.
func (createSaleIn) Descriptions() map[string]string {
	return map[string]string{"days_until_due": "Days to pay an invoice"}
}

type saleOut struct {
	Status int
	Body   connectSale
}

type connectSale struct {
	ID             id.ID     `json:"id" format:"uuid" doc:"ID of the sale"`
	ClientOrgID    id.ID     `json:"client_org_id" format:"uuid" doc:"The client organization that is billed"`
	Status         string    `json:"status" enum:"in_flight,active,ended"`
	Name           string    `json:"name" doc:"Name shown on the invoices"`
	Email          string    `json:"email" doc:"Address that receives the invoices"`
	Amount         int64     `json:"amount" doc:"In minor units"`
	Currency       string    `json:"currency" doc:"Currency of amount, ISO 4217"`
	Interval       string    `json:"interval" enum:"month,year" doc:"How often the client is billed"`
	DaysUntilDue   int       `json:"days_until_due" doc:"Days to pay an invoice"`
	FeePercent     string    `json:"application_fee_percent" doc:"The platform's share, with two decimals"`
	SubscriptionID *string   `json:"subscription_id" doc:"ID at the payment processor; null while in_flight"`
	CreatedAt      wire.Time `json:"created_at" format:"date-time" doc:"When the sale was requested"`
}

// Descriptions returns the long descriptions of the members.
func (connectSale) Descriptions() map[string]string {
	return map[string]string{
		"status": "in_flight: recorded, and created at the payment processor as soon as it can be reached; repeat " +
			"the request with its Idempotency-Key to read the outcome",
	}
}

// createSale starts billing a client. The transaction that records the sale stores it under the idempotency key. A
// repeated request therefore never makes a second sale: it gets the sale as it is now, or the error with which it
// failed.
func (a *App) createSale(ctx context.Context, in *createSaleIn) (*saleOut, error) {
	if err := auth.CheckEmail("email", in.Body.Email); err != nil {
		return nil, err
	}

	r := httpx.RequestOf(ctx)
	if out, err := a.soldBefore(ctx, r); out != nil || err != nil {
		return out, err
	}

	sale, err := a.resellers.Sell(ctx, r.Who.Org, connect.Offer{
		Client: in.Body.ClientOrgID, Email: in.Body.Email, Name: in.Body.Name, Amount: in.Body.Amount,
		Currency: in.Body.Currency, Interval: in.Body.Interval, Days: in.Body.DaysUntilDue,
	}, func(ctx context.Context, tx *postgres.Tx, sale *connect.Sale) error {
		if r.Key == "" {
			return nil
		}

		stored, err := httpx.RecallStored(ctx, tx, r)
		if err == nil && stored != nil {
			err = errStored
		}
		if err != nil {
			return err
		}

		return httpx.StoreResponse(tx, a.Server, r, showSale(sale))
	})
	switch {
	case errors.Is(err, errStored):
		return a.soldBefore(ctx, r)
	case sale != nil && fault.Is(err, fault.Unavailable): // the sync continues it
		return showSale(sale), nil
	case err != nil:
		return nil, err
	}

	return showSale(sale), nil
}

// soldBefore returns the outcome of the sale that was recorded under the request's key, or nil for a new key.
func (a *App) soldBefore(ctx context.Context, r *httpx.Request) (*saleOut, error) {
	if r.Key == "" {
		return nil, nil
	}

	var sale *connect.Sale
	err := a.DB.Tx(ctx, r.Who.Org, func(tx *postgres.Tx) error {
		stored, err := httpx.RecallStored(ctx, tx, r)
		if err != nil || stored == nil {
			return err
		}
		var first saleOut
		if err := a.DecodeStored(r, stored, &first); err != nil {
			return err
		}
		sale, err = connect.ReadSale(ctx, tx, first.Body.ID)
		return err
	})
	if err != nil || sale == nil {
		return nil, err
	}

	r.Replayed = true
	if err := sale.Err(); err != nil {
		return nil, err
	}

	return showSale(sale), nil
}

func showSale(s *connect.Sale) *saleOut {
	out := &saleOut{Status: http.StatusCreated, Body: connectSale{
		ID: s.ID, ClientOrgID: s.Client, Status: s.State, Name: s.Name, Email: s.Email, Amount: s.Amount,
		Currency: s.Currency, Interval: s.Interval, DaysUntilDue: s.Days, FeePercent: plans.Percent(s.FeeBPS),
		SubscriptionID: stringOrNil(s.Subscription), CreatedAt: wire.At(s.CreatedAt),
	}}
	if s.State == billing.InFlight {
		out.Status = http.StatusAccepted
	}
	return out
}
