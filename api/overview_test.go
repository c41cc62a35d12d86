package api_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/overview"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// counted brings the counts of the caller's org up to date, as the job does, and returns the overview. A count leaves
// out events that are newer than an open transaction, of any database, so it is repeated until it has met all.
func (c *caller) counted(query string) (o overview.Overview) {
	c.Helper()
	for again := true; again; {
		if err := c.DB.App.Tx(c.Context(), c.Org, func(tx *postgres.Tx) error {
			return overview.Count(context.WithoutCancel(c.Context()), tx)
		}); err != nil {
			c.Fatal(err)
		}
		again = c.count(`event e JOIN overview_state s ON s.org_id = e.org_id WHERE e.org_id = $1 AND e.seq > s.seq`,
			c.Org) > 0
	}
	c.do(http.MethodGet, "/api/v1/overview"+query, nil).want(c, 200, "").into(c, &o)
	return o
}

func TestTheOverviewCountsByDay(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada, stranger := s.signup(), s.signup()
	day := func(back int) string { return time.Now().UTC().AddDate(0, 0, -back).Format(time.DateOnly) }
	empty := ada.counted("")
	if len(empty.Series) != 30 || empty.From != day(29) || empty.To != day(0) || empty.Contacts.Total != 0 {
		t.Errorf("an empty overview: %+v", empty)
	}
	var first contact
	for n := range 3 {
		c := ada.contact(fmt.Sprintf("p%d@acme.example", n), "")
		if n == 0 {
			first = c
		}
	}
	ada.do(http.MethodPost, "/api/v1/crm/contacts/batch", fmt.Sprintf(`{"contacts":[{"email":"old@acme.example",
		"first_name":"O","last_name":"L","created_at":"%sT12:00:00Z"}]}`, day(40))).want(t, 200, "")
	ada.newDeal("open", `,"amount":100,"currency":"EUR"`)
	won := ada.newDeal("won", `,"amount":50,"status":"won"`)
	ada.newDeal("lost", fmt.Sprintf(`,"amount":7,"status":"lost","closed_at":"%sT10:00:00Z"`, day(3)))
	o := ada.counted("")
	if o.Contacts != (overview.Contacts{Total: 4, New: 3}) || o.Series[29].Contacts != 3 {
		t.Errorf("contacts %+v, today %+v", o.Contacts, o.Series[29])
	}
	want := overview.DealSums{
		Open: []overview.CurrencySum{{Currency: "EUR", Count: 1, Amount: 100}},
		Won:  []overview.CurrencySum{{Currency: "USD", Count: 1, Amount: 50}},
		Lost: []overview.CurrencySum{{Currency: "USD", Count: 1, Amount: 7}},
	}
	if diff := cmp.Diff(want, o.Deals); diff != "" || o.Series[29].DealsWon != 1 {
		t.Errorf("deals, won today %d (-want +got):\n%s", o.Series[29].DealsWon, diff)
	}
	if o := ada.counted("?from=" + day(40) + "&to=" + day(40)); len(o.Series) != 1 || o.Series[0].Contacts != 1 {
		t.Errorf("the day of a contact with an earlier created_at: %+v", o.Series)
	}
	// What is undone is not counted any more.
	ada.do(http.MethodDelete, "/api/v1/crm/contacts/"+first.ID, nil).want(t, 204, "")
	ada.do(http.MethodPatch, "/api/v1/crm/deals/"+won.ID, `{"status":"open"}`).want(t, 200, "")
	o = ada.counted("")
	if o.Contacts.Total != 3 || o.Series[29].Contacts != 2 || o.Series[29].DealsWon != 0 || len(o.Deals.Won) != 0 {
		t.Errorf("after an archive and a reopening: %+v, %+v", o.Contacts, o.Deals)
	}
	if diff := cmp.Diff(o, ada.counted("")); diff != "" {
		t.Errorf("a second count differs:\n%s", diff)
	}
	if o := stranger.counted(""); o.Contacts.Total != 0 || len(o.Deals.Open) != 0 {
		t.Errorf("another org's overview: %+v", o)
	}
	ada.as(auth.Viewer).do(http.MethodGet, "/api/v1/overview?from=2026-01-01&to=2026-12-31", nil).want(t, 200, "")
	for _, query := range []string{
		"?from=2025-01-01&to=2026-01-02", "?from=2026-01-02&to=2026-01-01", "?from=x", "?to=2026-02-30", "?days=3",
	} {
		ada.do(http.MethodGet, "/api/v1/overview"+query, nil).want(t, 400, "invalid_parameter")
	}
}

func TestTheOverviewCountsDeliveriesAndFirstSteps(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	done := func(o overview.Overview) (keys []string) {
		for _, f := range o.Onboarding {
			if f.Done {
				keys = append(keys, f.Key)
			}
		}
		return keys
	}
	if keys := done(ada.counted("")); keys != nil {
		t.Errorf("a new org has done %v", keys)
	}
	ada.do(http.MethodPost, "/api/v1/webhooks", `{"url":"https://93.184.216.34/","events":["*"]}`).want(t, 201, "")
	for n := range 4 {
		ada.contact(fmt.Sprintf("p%d@acme.example", n), "")
	}
	ada.key(auth.Viewer)
	if o := ada.counted(""); o.Webhooks != (overview.Webhooks{}) {
		t.Errorf("pending deliveries are counted: %+v", o.Webhooks)
	}
	if err := s.DB.App.Tx(t.Context(), ada.Org, func(tx *postgres.Tx) error {
		tx.Queue(`UPDATE webhook_delivery
			SET status = CASE n WHEN 1 THEN 'failed' WHEN 2 THEN 'exhausted' ELSE 'delivered' END
			FROM (SELECT id AS i, row_number() OVER (ORDER BY id) AS n FROM webhook_delivery) AS numbered WHERE id = i`)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	o := ada.counted("")
	if o.Webhooks != (overview.Webhooks{Delivered: 2, Failed: 2}) || o.Series[29].DeliveryFailures != 2 {
		t.Errorf("deliveries %+v", o.Webhooks)
	}
	want := []string{"create_contact", "create_api_key", "create_webhook", "see_delivery"}
	if diff := cmp.Diff(want, done(o)); diff != "" {
		t.Errorf("first steps (-want +got):\n%s", diff)
	}
}

func TestTheOverviewCountsEmailsAndReplies(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	box, bob := ada.sandboxMailbox(), ada.contact("bob@acme.example")
	first, second := ada.email(box, bob.ID, ""), ada.email(box, bob.ID, "")
	ada.email(box, bob.ID, "") // is not sent
	if err := s.DB.App.Tx(t.Context(), ada.Org, func(tx *postgres.Tx) error {
		tx.Queue(`UPDATE email SET status = 'sent', marked_at = now(), sent_at = now() WHERE id = ANY ($1::uuid[])`,
			[]string{first.ID, second.ID})
		for _, class := range []string{"human", "auto_reply"} {
			tx.Queue(`INSERT INTO message (org_id, id, mailbox_id, identity, via, received_at, class)
				VALUES ($1, $2, $3, $4, 'http', now(), $5)`, ada.Org, id.New(), box, []byte(class), class)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	o := ada.counted("")
	if want := (overview.Emails{Sent: 2, Replied: 1}); o.Emails != want || o.Series[29].EmailsSent != 2 ||
		o.Series[29].Replies != 1 {
		t.Errorf("emails %+v, today %+v, want %+v", o.Emails, o.Series[29], want)
	}
}

func TestTheOverviewIsShownAlthoughTheReadCannotBeRecorded(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	ada.contact("grace@example.com")
	ada.counted("")
	ada.exec(`UPDATE overview_state SET read_at = '-infinity'`)
	ada.exec(`REVOKE UPDATE ON overview_state FROM funnelwork_app`)
	var o overview.Overview
	ada.do(http.MethodGet, "/api/v1/overview", nil).want(ada, 200, "").into(ada, &o)
	if o.Contacts.Total != 1 {
		t.Errorf("without the right to record the read: %+v", o.Contacts)
	}
}
