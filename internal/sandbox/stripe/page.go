package stripe

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
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

// page returns the URL of a page, for links in responses.
func (tx *tx) page(path string) text {
	to := tx.s.o.PageURL + path
	if tx.account != "" {
		to += "?account=" + tx.account
	}
	return text(to)
}

// Handler returns the handler of the sandbox's pages and their buttons, below Path. A visitor can act as any customer
// and bank, so it must be mounted on the operators' listener only.
func (s *Sandbox) Handler() http.Handler {
	page := template.Must(template.New("stripe").Funcs(template.FuncMap{"money": money, "at": clockText}).
		Parse(pageSource))
	mux := http.NewServeMux()
	show := func(fill func(*tx, *view, string)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { s.showPage(w, r, page, fill) }
	}
	mux.HandleFunc("GET "+Path+"{$}", show(everything))
	mux.HandleFunc("GET "+Path+"customers/{id}", show(oneCustomer))
	mux.HandleFunc("GET "+Path+"invoices/{id}", show(oneInvoice))
	mux.HandleFunc("GET "+Path+"payments/{id}", show(onePayment))
	mux.HandleFunc("GET "+Path+"onboarding/{id}", show(oneLink))
	mux.HandleFunc("POST "+Path+"do", s.press)
	return mux
}

func (s *Sandbox) showPage(w http.ResponseWriter, r *http.Request, page *template.Template,
	fill func(*tx, *view, string),
) {
	v := view{
		Sandbox: true, Account: r.URL.Query().Get("account"), Here: r.URL.RequestURI(),
		Note: r.URL.Query().Get("note"),
	}
	refused, err := s.look(r.Context(), v.Account, func(tx *tx) *problem {
		v.Customers, v.Invoices, v.Ledger, v.Accounts = []customerRow{}, []invoiceRow{}, []Movement{}, []accountRow{}
		v.Clock, v.Mangle = clockText(tx.now), tx.settings().Mangle
		v.Ahead = (time.Duration(tx.settings().Ahead) * time.Second).String()
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

func everything(tx *tx, v *view, _ string) {
	for _, c := range all[customer](tx, Query{Limit: listedOnPage}) {
		v.Customers = append(v.Customers, tx.customerRow(c))
	}
	for _, inv := range all[invoice](tx, Query{Limit: listedOnPage}) {
		v.Invoices = append(v.Invoices, tx.invoiceRow(inv))
	}
	for _, e := range all[entry](tx, Query{Limit: listedOnPage}) {
		v.Ledger = append(v.Ledger, e.Movement)
	}
	for _, a := range all[account](tx, Query{Limit: listedOnPage}) {
		v.Accounts = append(v.Accounts, accountRow{ID: a.ID, Email: string(a.Email), State: a.Own.State})
	}
	v.Waiting = len(all[delivery](tx, Query{Limit: 1000}))
}

func oneCustomer(tx *tx, v *view, id string) {
	c := get[customer](tx, "customer", id)
	v.Customers = append(v.Customers, tx.customerRow(c))
	of := []string{mark("customer", id)}
	for _, inv := range all[invoice](tx, Query{All: of, Limit: listedOnPage}) {
		v.Invoices = append(v.Invoices, tx.invoiceRow(inv))
	}
	for _, e := range all[entry](tx, Query{All: of, Limit: listedOnPage}) {
		v.Ledger = append(v.Ledger, e.Movement)
	}
}

func oneInvoice(tx *tx, v *view, id string) {
	row := tx.invoiceRow(get[invoice](tx, "invoice", id))
	row.Lines = get[invoice](tx, "invoice", id).Own.Lines
	v.Invoices = append(v.Invoices, row)
}

func onePayment(tx *tx, v *view, id string) {
	pi := get[intent](tx, "payment", id)
	v.Payment = &paymentRow{ID: pi.ID, Status: pi.Status, Amount: pi.Amount, Currency: pi.Currency}
}

// oneLink shows the onboarding page, which a link opens once and within five minutes.
func oneLink(tx *tx, v *view, id string) {
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
		row.Card, row.Last4 = m.Own.Conduct, m.Own.Last4
	}
	for _, s := range all[subscription](tx, Query{All: []string{mark("customer", c.ID)}}) {
		one := subRow{
			ID: s.ID, Status: s.Status, Until: clockText(s.End), Ends: s.AtEnd,
			Change: s.Own.Pending != nil, Plan: s.Schedule != "",
		}
		for i, p := range tx.prices(s.Own.Items) {
			one.Items = append(one.Items, tx.named(p, s.Own.Items[i].Quantity)+" / "+p.Recurring.Interval)
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

// press executes a button and redirects back to its page.
func (s *Sandbox) press(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "the form could not be read", http.StatusBadRequest)
		return
	}
	back, err := url.Parse(r.PostForm.Get("back"))
	if err != nil || back.Host != "" || back.Scheme != "" || !strings.HasPrefix(back.Path, Path) {
		back = &url.URL{Path: Path}
	}
	q := back.Query()
	q.Del("note")
	if note := s.act(r); note != "" {
		q.Set("note", note)
	}
	back.RawQuery = q.Encode()
	http.Redirect(w, r, back.String(), http.StatusSeeOther) //nolint:gosec // a path below ours, as checked above
}

// act executes a button and returns the message to show, or "" for none.
func (s *Sandbox) act(r *http.Request) string {
	ctx, id, account := r.Context(), r.PostForm.Get("id"), r.PostForm.Get("account")
	on := s.On(account)
	var err error
	switch do := r.PostForm.Get("do"); do {
	case "card":
		err = on.SetCard(ctx, id, Conduct(r.PostForm.Get("to")))
	case "confirm", "fail":
		err = on.Confirm(ctx, id, do == "confirm")
	case "pay":
		err = on.Pay(ctx, id)
	case "advance":
		by, bad := hours(r.PostForm.Get("by"))
		if bad != nil {
			return bad.Error()
		}
		err = s.Advance(ctx, by)
	case "mangle":
		err = s.SetMangle(ctx, Mangle{
			Drop: percent(r.PostForm.Get("drop")), Duplicate: percent(r.PostForm.Get("duplicate")),
			Reorder: r.PostForm.Get("reorder") != "", Delay: int64(percent(r.PostForm.Get("delay"))),
		})
	case "account":
		err = s.SetAccount(ctx, id, r.PostForm.Get("to"))
	case "disconnect":
		err = s.Disconnect(ctx, id)
	case "onboard":
		return s.onboard(r, id)
	default:
		return "There is no such button."
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// onboard consumes a link. The returned message states the URL to which the account wanted to return.
func (s *Sandbox) onboard(r *http.Request, id string) string {
	var account, back string
	err := s.operate(r.Context(), "", func(tx *tx) {
		link := find[accountLink](tx, id)
		if link == nil || link.Expires <= tx.now {
			refuse(&problem{Status: http.StatusGone, Message: "This onboarding link was used or has expired."})
		}
		account, back = link.Account, link.Return
		tx.drop(link)
	})
	if err == nil {
		err = s.SetAccount(r.Context(), account, r.PostForm.Get("to"))
	}
	if err != nil {
		return err.Error()
	}
	return "Onboarded. Go on at " + back
}

func percent(v string) int {
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0
	}
	return min(max(n, 0), 100)
}

// hours parses a duration such as 36h, or a number of days such as 30d.
func hours(v string) (time.Duration, error) {
	days, isDays := strings.CutSuffix(strings.TrimSpace(v), "d")
	if n, err := strconv.ParseInt(days, 10, 32); isDays && err == nil {
		v = strconv.FormatInt(n*24, 10) + "h"
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 || d > 10*366*24*time.Hour {
		return 0, fmt.Errorf("want a duration such as 36h or 30d, got %q", v)
	}
	return d, nil
}

// money formats an amount for display.
func money(amount int64, currency string) string {
	sign := ""
	if amount < 0 {
		sign, amount = "-", -amount
	}
	if currency == "jpy" {
		return fmt.Sprintf("%s%d JPY", sign, amount)
	}
	return fmt.Sprintf("%s%d.%02d %s", sign, amount/100, amount%100, strings.ToUpper(currency))
}

// clockText formats a time for display.
func clockText(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04:05Z") }
