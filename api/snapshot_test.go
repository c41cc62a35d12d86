package api_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// TestADeliveryIsShownWithTheAttemptsOfTheSameMoment reads a delivery again and again, which is delivered and made
// pending again meanwhile.
func TestADeliveryIsShownWithTheAttemptsOfTheSameMoment(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	delivery, conn := id.New(), testkit.Pgx(t, s.DB.URL)
	if _, err := conn.Exec(t.Context(), `INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type,
			created_at, updated_at) VALUES ($1, $2, $3, $4, 'contact.created', now(), now())`,
		c.Org, delivery, c.hook("").ID, id.New()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var writer sync.WaitGroup
	writer.Go(func() {
		for ctx.Err() == nil {
			for _, sql := range []string{
				`WITH d AS (UPDATE webhook_delivery SET status = 'delivered', attempts = 1, last_status = 200
					WHERE org_id = $1 AND id = $2)
				INSERT INTO webhook_attempt (org_id, id, delivery_id, number, trigger, request_headers, status,
					started_at)
				VALUES ($1, uuidv7_at(now()), $2, 1, 'event', '{}', 200, now())`,
				`WITH d AS (UPDATE webhook_delivery SET status = 'pending', attempts = 0, last_status = NULL
					WHERE org_id = $1 AND id = $2)
				DELETE FROM webhook_attempt WHERE org_id = $1 AND delivery_id = $2`,
			} {
				if _, err := conn.Exec(ctx, sql, c.Org, delivery); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		}
	})
	defer writer.Wait()
	defer stop()
	seen := map[string]int{}
	for seen["pending"] < 200 || seen["delivered"] < 200 {
		var shown struct {
			Status   string
			Attempts []struct{ Status int }
		}
		c.do(http.MethodGet, "/api/v1/webhook-deliveries/"+delivery.String(), nil).want(t, 200, "").into(t, &shown)
		if (shown.Status == "pending") != (len(shown.Attempts) == 0) {
			t.Fatalf("%s with %d attempts", shown.Status, len(shown.Attempts))
		}
		seen[shown.Status]++
	}
}
