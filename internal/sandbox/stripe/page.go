package stripe

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/look"
)

// Path is where Handler is mounted.
const Path = "/sandbox/stripe/"

// listedOnPage is how many customers, invoices and movements the page shows, newest first.
const listedOnPage = 50

//go:embed page.html
var pageSource string

// view is the content of a page. Its JSON form is for scripts.
type view struct {
	Sandbox   bool          `json:"sandbox"`
	Account   string        `json:"account"`
	Clock     string        `json:"clock"`
	Ahead     string        `json:"ahead"`
	Here      string        `json:"-"`
	Note      string        `json:"note,omitempty"`
	Mangle    Mangle        `json:"mangle"`
	Waiting   int           `json:"deliveries_waiting"`
	Customers []customerRow `json:"customers"`
	Invoices  []invoiceRow  `json:"invoices"`
	Ledger    []Movement    `json:"ledger"`
	Accounts  []accountRow  `json:"accounts"`
	Payment   *paymentRow   `json:"payment,omitempty"`
	Link      *accountLink  `json:"-"`
}

// Onboards returns the possible results of onboarding, by state.
func (view) Onboards() map[string]string {
	return map[string]string{
		Enabled: "All is in order", Review: "It is to be reviewed",
		Restricted: "Something is missing", Warned: "Something is missing, and has time",
		Onboarding: "Leave it unfinished",
	}
}

// Conducts returns the conducts that can be set for a card.
func (view) Conducts() []Conduct { return []Conduct{Works, Decline, ThreeDS} }

// States returns the states that can be set for an account.
func (view) States() []string { return []string{Onboarding, Review, Restricted, Enabled, Warned} }

type customerRow struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Email   string   `json:"email"`
	Balance int64    `json:"balance"`
	Card    Conduct  `json:"card"`
	Last4   string   `json:"last4"`
	Subs    []subRow `json:"subscriptions"`
}

type subRow struct {
	ID     string   `json:"id"`
	Status string   `json:"status"`
	Items  []string `json:"items"`
	Until  string   `json:"current_period_end"`
	Ends   bool     `json:"cancel_at_period_end"`
	Change bool     `json:"pending_update"`
	Plan   bool     `json:"schedule"`
}

type invoiceRow struct {
	ID       string `json:"id"`
	Number   string `json:"number"`
	Customer string `json:"customer"`
	Status   string `json:"status"`
	Reason   string `json:"billing_reason"`
	Currency string `json:"currency"`
	Total    int64  `json:"total"`
	Due      int64  `json:"amount_due"`
	Payment  string `json:"payment_intent"`
	Asks     bool   `json:"requires_action"`
	Made     string `json:"created"`
	Lines    []line `json:"-"`
}

type accountRow struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	State string `json:"state"`
}

type paymentRow struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// pageURL returns the URL of a page, for links in responses.
func (tx *tx) pageURL(path string) text {
	to := tx.s.o.PageURL + path
	if tx.account != "" {
		to += "?account=" + tx.account
	}
	return text(to)
}

// Handler returns the handler of the sandbox's pages and their buttons, below Path. A visitor can act as any customer
// and bank, so it must be mounted on the operators' listener only.
func (s *Sandbox) Handler() http.Handler {
	page := template.Must(template.New("stripe").Funcs(template.FuncMap{
		"money": formatMoney,
		"at":    clockText,
	}).
		Parse(pageSource))
	mux := http.NewServeMux()
	show := func(fill func(*tx, *view, string)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { s.showPage(w, r, page, fill) }
	}
	mux.HandleFunc("GET "+Path+"{$}", show(fillOverview))
	mux.HandleFunc("GET "+Path+"customers/{id}", show(fillCustomer))
	mux.HandleFunc("GET "+Path+"invoices/{id}", show(fillInvoice))
	mux.HandleFunc("GET "+Path+"payments/{id}", show(fillPayment))
	mux.HandleFunc("GET "+Path+"onboarding/{id}", show(fillLink))
	mux.HandleFunc("POST "+Path+"do", s.pressButton)

	return mux
}

func (s *Sandbox) showPage(w http.ResponseWriter, r *http.Request, page *template.Template,
	fill func(*tx, *view, string),
) {
	v := view{
		Sandbox: true, Account: r.URL.Query().Get("account"), Here: r.URL.RequestURI(),
		Note: r.URL.Query().Get("note"),
	}
	refused, err := s.viewState(r.Context(), v.Account, func(tx *tx) *problem {
		v.Customers = []customerRow{}
		v.Invoices = []invoiceRow{}
		v.Ledger = []Movement{}
		v.Accounts = []accountRow{}
		v.Clock = clockText(tx.now)
		v.Mangle = tx.readSettings().Mangle
		v.Ahead = (time.Duration(tx.readSettings().Ahead) * time.Second).String()
		fill(tx, &v, r.PathValue("id"))

		return nil
	})
	switch {
	case err != nil:
		s.o.Log.ErrorContext(r.Context(), "read sandbox stripe page failed", "error", err)
		http.Error(w, "the database is unavailable", http.StatusServiceUnavailable)
		return
	case refused != nil:
		http.Error(w, refused.Message, refused.Status)
		return
	}

	h := w.Header()
	h.Set("Cache-Control", "no-store")
	var body bytes.Buffer
	if r.URL.Query().Get("format") == "json" || strings.Contains(r.Header.Get("Accept"), "application/json") {
		h.Set("Content-Type", "application/json")
		err = json.NewEncoder(&body).Encode(v)
	} else {
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", look.Policy)
		err = page.Execute(&body, v)
	}

	if err != nil {
		s.o.Log.ErrorContext(r.Context(), "render sandbox stripe page failed", "error", err)
		http.Error(w, "the page could not be rendered", http.StatusInternalServerError)
		return
	}

	_, _ = w.Write(body.Bytes())
}

func fillOverview(tx *tx, v *view, _ string) {
	for _, c := range findAll[customer](tx, Query{Limit: listedOnPage}) {
		v.Customers = append(v.Customers, tx.customerRow(c))
	}

	for _, inv := range findAll[invoice](tx, Query{Limit: listedOnPage}) {
		v.Invoices = append(v.Invoices, tx.invoiceRow(inv))
	}

	for _, e := range findAll[entry](tx, Query{Limit: listedOnPage}) {
		v.Ledger = append(v.Ledger, e.Movement)
	}

	for _, a := range findAll[account](tx, Query{Limit: listedOnPage}) {
		v.Accounts = append(v.Accounts, accountRow{ID: a.ID, Email: string(a.Email), State: a.Own.State})
	}

	v.Waiting = len(findAll[delivery](tx, Query{Limit: 1000}))
}

func fillCustomer(tx *tx, v *view, id string) {
	c := mustFind[customer](tx, "customer", id)
	v.Customers = append(v.Customers, tx.customerRow(c))
	of := []string{indexKey("customer", id)}
	for _, inv := range findAll[invoice](tx, Query{All: of, Limit: listedOnPage}) {
		v.Invoices = append(v.Invoices, tx.invoiceRow(inv))
	}

	for _, e := range findAll[entry](tx, Query{All: of, Limit: listedOnPage}) {
		v.Ledger = append(v.Ledger, e.Movement)
	}
}

func fillInvoice(tx *tx, v *view, id string) {
	row := tx.invoiceRow(mustFind[invoice](tx, "invoice", id))
	row.Lines = mustFind[invoice](tx, "invoice", id).Own.Lines
	v.Invoices = append(v.Invoices, row)
}

func fillPayment(tx *tx, v *view, id string) {
	pi := mustFind[intent](tx, "payment", id)
	v.Payment = &paymentRow{ID: pi.ID, Status: pi.Status, Amount: pi.Amount, Currency: pi.Currency}
}

// fillLink shows the onboarding page, which a link opens once and within five minutes.
func fillLink(tx *tx, v *view, id string) {
	link := find[accountLink](tx, id)
	if link == nil || link.Expires <= tx.now {
		refuse(&problem{
			Status:  http.StatusGone,
			Message: "This onboarding link was used or has expired: ask for a new one.",
		})
	}

	v.Link = link
}

func (tx *tx) customerRow(c *customer) customerRow {
	row := customerRow{ID: c.ID, Name: string(c.Name), Email: string(c.Email), Balance: c.Balance, Subs: []subRow{}}
	if m := find[card](tx, string(c.Own.Card)); m != nil {
		row.Card = m.Own.Conduct
		row.Last4 = m.Own.Last4
	}

	for _, s := range findAll[subscription](tx, Query{All: []string{indexKey("customer", c.ID)}}) {
		one := subRow{
			ID: s.ID, Status: s.Status, Until: clockText(s.End), Ends: s.AtEnd,
			Change: s.Own.Pending != nil, Plan: s.Schedule != "",
		}
		for i, p := range tx.readPrices(s.Own.Items) {
			one.Items = append(one.Items,
				tx.describePrice(p, s.Own.Items[i].Quantity)+" / "+p.Recurring.Interval)
		}

		row.Subs = append(row.Subs, one)
	}

	return row
}

func (tx *tx) invoiceRow(inv *invoice) invoiceRow {
	row := invoiceRow{
		ID: inv.ID, Number: string(inv.Number), Customer: inv.Customer, Status: inv.Status, Reason: inv.Reason,
		Currency: inv.Currency,
		Total:    inv.Total, Due: inv.Due, Payment: string(inv.Intent), Made: clockText(inv.Created),
	}
	if pi := find[intent](tx, row.Payment); pi != nil {
		row.Asks = pi.Status == "requires_action"
	}

	return row
}
