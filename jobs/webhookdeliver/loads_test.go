package webhookdeliver_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs/webhookdeliver"
)

// Runs of several orgs read existing, missing and broken deliveries at once. Each gets its own, and only runs of the
// broken endpoint fail.
func TestRunsThatBeginTogetherGetEachItsOwnDelivery(t *testing.T) {
	t.Parallel()
	b := begin(t, func(http.ResponseWriter, *http.Request) {})
	var spoiled webhooks.Versioned
	type want struct{ org, delivery, endpoint id.ID }
	var wants []want
	orgs := []id.ID{b.org, id.New(), id.New()}
	for i, org := range orgs {
		if err := b.db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			v, _, err := b.hooks.Create(t.Context(), tx,
				webhooks.New{URL: b.endpoint.URL, Events: []string{"contact.created"}, Enabled: true})
			if i == 1 {
				spoiled = v
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, org := range orgs {
		b.org = org
		for range 40 {
			b.announce()
		}
	}
	rows, err := b.super.Query(t.Context(), "SELECT org_id, id, endpoint_id FROM webhook_delivery")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var w want
		if err := rows.Scan(&w.org, &w.delivery, &w.endpoint); err != nil {
			t.Fatal(err)
		}
		wants = append(wants, w, want{org: w.org, delivery: id.New()})
	}
	if rows.Err() != nil || len(wants) != 2*4*40 {
		t.Fatalf("%d, %v", len(wants), rows.Err())
	}
	b.sql("UPDATE webhook_endpoint SET secret = 'spoiled' WHERE org_id = $1 AND id = $2", orgs[1], spoiled.ID)
	get := webhookdeliver.Getter(b.hooks, b.db.App)
	var all sync.WaitGroup
	for _, w := range wants {
		all.Go(func() {
			p, err := get(context.WithoutCancel(t.Context()), w.org, w.delivery)
			switch {
			case w.endpoint.IsZero():
				if p != nil || err != nil {
					t.Errorf("%+v, %v of nothing", p, err)
				}
			case w.endpoint == spoiled.ID:
				if err == nil {
					t.Errorf("%+v of a spoiled secret", p)
				}
			case err != nil || p == nil || p.Delivery != w.delivery || p.Endpoint != w.endpoint || len(p.Secrets) != 1:
				t.Errorf("%+v, %v; want %+v", p, err, w)
			}
		})
	}
	all.Wait()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := get(ended, wants[0].org, wants[0].delivery); err != nil || p == nil {
		t.Errorf("%v, %v: a read that others share ends with one of them", p, err)
	}
}
