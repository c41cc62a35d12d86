package webhooks_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

func TestAnEstimateOfDeliveriesIsExactWhileSmallAndNearWhenLarge(t *testing.T) {
	t.Parallel()
	db, org, endpoint := filled(t)
	hourAgo := time.Now().Add(-time.Hour)
	if err := db.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
		for _, f := range []webhooks.Filter{
			{},
			{Status: webhooks.Exhausted},
			{Status: webhooks.Delivered},
			{EventType: "deal.won"},
			{EventType: "contact.created"},
			{CreatedAfter: hourAgo},
			{CreatedBefore: hourAgo},
			{Status: webhooks.Failed},
			{Status: webhooks.Pending},
		} {
			exact, err := new(webhooks.Service).CountDeliveries(t.Context(), tx, &endpoint, f, false)
			if err != nil {
				return err
			}
			near, err := new(webhooks.Service).CountDeliveries(t.Context(), tx, &endpoint, f, true)
			if err != nil {
				return err
			}
			if *exact <= 1000 && *near != *exact || *near*2 < *exact || *near > *exact*2 {
				t.Errorf("%+v: about %d of %d", f, *near, *exact)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
