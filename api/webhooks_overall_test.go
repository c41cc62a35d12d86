package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestTheDeliveriesOfAllWebhooksAreListedAndFiltered(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada, stranger := s.signup(), s.signup()
	var hooks [2]struct{ ID string }
	for n := range hooks {
		ada.do(http.MethodPost, "/api/v1/webhooks",
			fmt.Sprintf(`{"url":"https://93.184.216.34/%d","events":["*"]}`, n)).want(t, 201, "").into(t, &hooks[n])
	}
	ada.contact("ada@acme.example", "")
	ada.contact("bob@acme.example", "")
	ada.do(http.MethodPost, "/api/v1/webhooks/"+hooks[0].ID+"/test", `{"type":"deal.won"}`).want(t, 202, "")
	list := func(c *caller, query string) (found []string, total int) {
		t.Helper()
		path := "/api/v1/webhook-deliveries?count=exact&limit=2" + query
		for next := ""; ; {
			var l struct {
				Data []struct {
					ID        string `json:"id"`
					WebhookID string `json:"webhook_id"`
					EventType string `json:"event_type"`
				} `json:"data"`
				NextCursor *string `json:"next_cursor"`
				Total      int     `json:"total"`
			}
			c.do(http.MethodGet, path+next, nil).want(t, 200, "").into(t, &l)
			for _, d := range l.Data {
				at := "first "
				if d.WebhookID == hooks[1].ID {
					at = "second "
				}
				found = append(found, at+d.EventType)
			}
			if total = l.Total; l.NextCursor == nil {
				return found, total
			}
			next = "&cursor=" + *l.NextCursor
		}
	}
	wanted := map[string]int{
		"": 5, "&status=pending": 5, "&status=delivered": 0, "&event_type=deal.won": 1,
		"&event_type=contact.created": 4,
		"&webhook_id=" + hooks[0].ID:  3, "&webhook_id=" + hooks[1].ID + "&event_type=deal.won": 0,
		"&created_after=2020-01-01T00:00:00Z": 5, "&created_before=2020-01-01T00:00:00Z": 0,
		"&webhook_id=" + ada.Org.String(): 0,
	}
	for _, kept := range []int{31, 365} { // with many days a page of a rare filter is short, and has a cursor
		if _, err := testkit.Pgx(t, s.DB.URL).Exec(t.Context(),
			`UPDATE partitioned SET keep_days = $1 WHERE name = 'webhook_delivery'`, kept); err != nil {
			t.Fatal(err)
		}
		for query, want := range wanted {
			found, total := list(ada, query)
			if len(found) != want || total != want {
				t.Errorf("%q of %d days: %d deliveries %v, total %d; want %d", query, kept, len(found), found, total,
					want)
			}
		}
	}
	newest, _ := list(ada, "&status=pending")
	if diff := cmp.Diff("first deal.won", newest[0]); diff != "" {
		t.Errorf("the newest delivery (-want +got):\n%s", diff)
	}
	if found, _ := list(stranger, "&webhook_id="+hooks[0].ID); len(found) != 0 {
		t.Errorf("another org sees %v", found)
	}
	ada.do(http.MethodGet, "/api/v1/webhook-deliveries?event_type=no.such", nil).want(t, 400, "invalid_parameter")
	ada.do(http.MethodGet, "/api/v1/webhook-deliveries?webhook_id=x", nil).want(t, 400, "invalid_parameter")
}
