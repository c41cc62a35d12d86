package webhookdeliver_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// try is a delivery and its outcome.
type try struct {
	parcel  *webhooks.DeliveryRequest
	outcome *webhooks.Outcome
}

// Successes written together must leave the same deliveries and attempts as successes written alone, and reset every
// endpoint's failures.
func TestSuccessesWrittenTogetherAreThoseWrittenAlone(t *testing.T) {
	t.Parallel()
	b := begin(t, func(http.ResponseWriter, *http.Request) {})
	for range 2 {
		b.tx(func(tx *postgres.Tx) error {
			_, _, err := b.hooks.Create(t.Context(), tx,
				webhooks.New{URL: b.endpoint.URL, Events: []string{"contact.created"}, Enabled: true})
			return err
		})
	}
	for range 3 { // nine deliveries
		b.announce()
	}
	b.sql("INSERT INTO webhook_health (org_id, endpoint_id, failing_since, streak, failed_events) SELECT org_id, " +
		"id, now(), 2, 2 FROM webhook_endpoint ORDER BY id LIMIT 2")
	b.sql("UPDATE webhook_delivery SET status = 'failed', attempts = 3, last_status = 500, last_error = "+
		"'http_status', next_attempt_at = now() WHERE endpoint_id = $1", b.endpoint.ID)
	tries := b.tries()
	if len(tries) != 9 {
		t.Fatalf("%d deliveries", len(tries))
	}
	alone := b.left(func(tx *postgres.Tx) error {
		for _, one := range tries {
			if _, err := b.hooks.Record(t.Context(), tx, one.parcel, *one.outcome); err != nil {
				return err
			}
		}
		return nil
	})
	together := b.left(func(tx *postgres.Tx) error {
		var items []any
		for _, one := range tries {
			success, plain := webhooks.AsSuccess(one.parcel, one.outcome)
			if !plain {
				t.Errorf("%+v is no plain success", one.parcel)
			}
			items = append(items, success)
		}
		return b.hooks.Write(tx, items)
	})
	if len(alone) != 9+9+2 {
		t.Fatalf("%d rows", len(alone))
	}
	if diff := cmp.Diff(alone, together); diff != "" {
		t.Errorf("alone and together differ:\n%s", diff)
	}
}

// tries loads every delivery and makes a distinct success for each.
func (b *bench) tries() (tries []try) {
	b.Helper()
	rows, err := b.super.Query(b.Context(), "SELECT id FROM webhook_delivery ORDER BY id")
	if err != nil {
		b.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		b.Fatal(err)
	}
	for i, delivery := range all {
		us, sec := time.Duration(i)*time.Microsecond, time.Duration(i)*time.Second
		a := outbound.Answer{
			Status: 200 + i, Body: []byte{byte(i), 0, 0xff}, Cut: i%2 == 0, RemoteAddr: "192.0.2.1:" + strconv.Itoa(i),
			Timings: outbound.Timings{DNS: us, Connect: 2 * us, TLS: 3 * us, FirstByte: 4 * us, Total: sec},
		}
		if i == 0 {
			a.Body = nil
		}
		o := &webhooks.Outcome{
			Status: webhooks.Delivered, Started: time.Now().Add(sec),
			Header: http.Header{"Webhook-Id": {strconv.Itoa(i)}}, Answer: a,
		}
		b.tx(func(tx *postgres.Tx) error {
			p, err := b.hooks.Load(b.Context(), tx, delivery)
			tries = append(tries, try{p, o})
			return err
		})
	}
	return tries
}

// left returns the deliveries with their attempts, as the API shows them, the addresses of the receivers and the
// endpoints' health after write, and rolls back.
func (b *bench) left(write func(*postgres.Tx) error) (out []string) {
	b.Helper()
	undo := errors.New("undo")
	err := b.db.App.Tx(b.Context(), b.org, func(tx *postgres.Tx) error {
		if err := write(tx); err != nil {
			return err
		}
		rows, err := tx.Query(b.Context(), `SELECT id FROM webhook_delivery ORDER BY id`)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
		if err != nil {
			return err
		}
		for _, delivery := range ids {
			d, err := b.hooks.GetDelivery(b.Context(), tx, delivery)
			if err != nil {
				return err
			}
			d.UpdatedAt = wire.Time{}
			for i := range d.Attempts {
				d.Attempts[i].ID = id.ID{}
			}
			shown, err := json.Marshal(d)
			if err != nil {
				return err
			}
			out = append(out, string(shown))
		}
		rows, err = tx.Query(b.Context(), `
			SELECT concat_ws(' ', d.id, d.remote_addr, a.remote_addr) FROM webhook_delivery d
			LEFT JOIN webhook_attempt a ON a.org_id = d.org_id AND a.delivery_id = d.id
			UNION ALL SELECT to_jsonb(h)::text FROM webhook_health h ORDER BY 1`)
		if err != nil {
			return err
		}
		stored, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		out = append(out, stored...)
		return undo
	})
	if !errors.Is(err, undo) {
		b.Fatal(err)
	}
	return out
}
