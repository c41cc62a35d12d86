package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing"
)

func (a *App) mountInvoices() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "billing.list_invoices",
		Method: http.MethodGet, Path: "/billing/invoices", Need: httpx.Owner, Part: httpx.PartBilling, Tag: billingTag,
		Title: "List the organization's invoices, newest first", Secret: true,
		May: []int{http.StatusServiceUnavailable},
	}, a.listInvoices)
}

type invoiceList struct {
	Body httpx.List[billing.Invoice]
}

func (a *App) listInvoices(ctx context.Context, in *struct{ httpx.Page }) (*invoiceList, error) {
	after, err := httpx.After[string](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	begin := ""
	if after != nil {
		begin = *after
	}

	rows, err := a.Billing.Invoices(ctx, httpx.Who(ctx).Org, begin, in.Limit+1)
	if err != nil {
		return nil, billing.AsFault(err)
	}

	l, err := httpx.NewList(ctx, a.Server, in.Page, rows,
		func(i billing.Invoice) billing.Invoice { return i }, func(i billing.Invoice) string { return i.ID })

	return &invoiceList{l}, err
}
