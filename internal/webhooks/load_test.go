package webhooks_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Every kind of delivery: plain, signed with two secrets, test, held, lost, disabled, archived, without its event.
func TestDeliveriesLoadedTogetherAreThoseLoadedAlone(t *testing.T) {
	t.Parallel()
	db, s := testkit.DB(t), service(t)
	super := testkit.Pgx(t, db.URL)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := super.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	var all []*webhooks.Load
	for range 3 {
		org := id.New()
		var of []id.ID
		for range 7 {
			v, _ := create(t, s, db.App, org, webhooks.New{Events: []string{"contact.created"}, Enabled: true})
			of = append(of, v.ID)
		}
		change(t, db.App, org, func(tx *postgres.Tx) error {
			if _, _, _, err := s.Rotate(t.Context(), tx, of[1], "", time.Hour); err != nil {
				return err
			}
			kind, _ := events.Lookup("deal.won")
			if _, err := s.SendTest(t.Context(), tx, of[2], kind); err != nil {
				return err
			}
			for range 2 {
				if err := events.Announce(t.Context(), tx, events.ContactCreated{Contact: contact()}); err != nil {
					return err
				}
			}
			return nil
		})
		exec("INSERT INTO webhook_health (org_id, endpoint_id, opened_at) VALUES ($1, $2, now())", org, of[3])
		exec("UPDATE job SET losses = 2 WHERE org_id = $1 AND line = $2", org, of[4])
		exec("UPDATE webhook_endpoint SET enabled = false WHERE org_id = $1 AND id = $2", org, of[5])
		exec("UPDATE webhook_endpoint SET archived_at = now() WHERE org_id = $1 AND id = $2", org, of[6])
		exec("DELETE FROM event WHERE org_id = $1 AND id = (SELECT min(id::text)::uuid FROM event WHERE org_id = $1)",
			org)
		rows, err := super.Query(t.Context(), "SELECT id FROM webhook_delivery WHERE org_id = $1 ORDER BY random()",
			org)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
		if err != nil || len(ids) != 15 {
			t.Fatalf("%d deliveries, %v", len(ids), err)
		}
		for _, one := range append(ids, ids[0], id.New()) { // a duplicate, and a missing one
			all = append(all, &webhooks.Load{Org: org, Delivery: one})
		}
		all = append(all, &webhooks.Load{Org: id.New(), Delivery: ids[1]}) // of another org
	}
	if err := s.LoadAll(t.Context(), db.App, all); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, l := range all {
		var alone *webhooks.DeliveryRequest
		err := db.App.ReadTx(t.Context(), l.Org, func(tx *postgres.Tx) (err error) {
			alone, err = s.Load(t.Context(), tx, l.Delivery)
			return err
		})
		if err != nil && !postgres.None(err) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(alone, l.Request); diff != "" || l.Err != nil {
			t.Errorf("alone and together differ: %v\n%s", l.Err, diff)
		}
		switch {
		case alone == nil:
			kinds["none"]++
		case !alone.Wanted:
			kinds["not wanted"]++
		case alone.Test():
			kinds["test"]++
		case alone.Held:
			kinds["held"]++
		case alone.Lost > 0:
			kinds["lost"]++
		case len(alone.Secrets) == 2:
			kinds["two secrets"]++
		default:
			kinds["plain"]++
		}
	}
	if len(kinds) != 7 {
		t.Errorf("not every sort was there: %v", kinds)
	}
	// A secret that cannot be decrypted fails only its own deliveries.
	exec("UPDATE webhook_endpoint SET secret = 'spoiled' WHERE org_id = $1", all[0].Org)
	if err := s.LoadAll(t.Context(), db.App, all); err != nil {
		t.Fatal(err)
	}
	spoiled := 0
	for _, l := range all {
		if l.Err != nil {
			spoiled++
			if l.Org != all[0].Org || l.Request != nil {
				t.Errorf("%v of another org, or with a parcel", l.Err)
			}
		}
	}
	if spoiled == 0 {
		t.Error(errors.New("no error came of a spoiled secret"))
	}
}
