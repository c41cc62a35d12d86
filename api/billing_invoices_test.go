package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
)

type invoiceBody struct {
	Data []struct {
		ID          string    `json:"id"`
		Number      *string   `json:"number"`
		Status      string    `json:"status"`
		Currency    string    `json:"currency"`
		AmountDue   int64     `json:"amount_due"`
		AmountPaid  int64     `json:"amount_paid"`
		PeriodStart time.Time `json:"period_start"`
		CreatedAt   time.Time `json:"created_at"`
		HostedURL   *string   `json:"hosted_invoice_url"`
		PDFURL      *string   `json:"pdf_url"`
	} `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
}

func TestInvoicesAreListedFromThePaymentProcessor(t *testing.T) {
	t.Parallel()
	s := published(t)
	ada, stranger := s.signup(), s.signup()
	invoices := func(c *caller, query string) (l invoiceBody) {
		t.Helper()
		c.do(http.MethodGet, "/billing/invoices"+query, nil).want(t, 200, "").into(t, &l)
		return l
	}
	if l := invoices(ada, ""); len(l.Data) != 0 || l.HasMore {
		t.Errorf("an org that has bought nothing has invoices: %+v", l)
	}
	ada.do(http.MethodPost, "/billing/change-plan", plan("solo_starter", "month")).change(t, 200, "applied")
	ada.do(http.MethodPost, "/billing/change-plan", plan("solo_pro", "month")).change(t, 200, "applied")
	all := invoices(ada, "")
	if len(all.Data) != 2 {
		t.Fatalf("%d invoices after two payments: %+v", len(all.Data), all)
	}
	for _, i := range all.Data {
		if i.Status != "paid" || i.Currency != "USD" || i.AmountPaid != i.AmountDue || i.AmountDue <= 0 {
			t.Errorf("an invoice that was paid: %+v", i)
		}
		if i.Number == nil || i.HostedURL == nil || !strings.HasPrefix(*i.HostedURL, "http") || i.PDFURL == nil {
			t.Errorf("an invoice without number or links: %+v", i)
		}
	}
	if all.Data[0].CreatedAt.Before(all.Data[1].CreatedAt) {
		t.Error("the newest is not first")
	}
	first := invoices(ada, "?limit=1")
	if !first.HasMore || first.NextCursor == nil {
		t.Fatalf("the first of two pages: %+v", first)
	}
	second := invoices(ada, "?limit=1&cursor="+*first.NextCursor)
	if diff := cmp.Diff(all.Data, append(first.Data, second.Data...)); diff != "" || second.HasMore {
		t.Errorf("the pages differ from the list (-list +pages):\n%s", diff)
	}
	if l := invoices(stranger, ""); len(l.Data) != 0 {
		t.Errorf("another org sees %+v", l)
	}
	ada.as(auth.Admin).do(http.MethodGet, "/billing/invoices", nil).want(t, 403, "forbidden")
}
