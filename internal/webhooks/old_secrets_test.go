package webhooks_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// TestEachOldSecretSignsUntilItsOwnTime rotates a secret several times within the first overlap.
func TestEachOldSecretSignsUntilItsOwnTime(t *testing.T) {
	t.Parallel()
	db, s, org := testkit.DB(t), service(t), id.New()
	v, first := create(t, s, db.App, org, webhooks.New{Events: []string{"contact.created"}, Enabled: true})
	var delivery id.ID
	change(t, db.App, org, func(tx *postgres.Tx) error {
		kind, _ := events.Lookup("contact.created")
		sent, err := s.SendTest(t.Context(), tx, v.ID, kind)
		delivery = sent.ID
		return err
	})
	rotate := func(chosen string, overlap time.Duration) (shown string) {
		t.Helper()
		change(t, db.App, org, func(tx *postgres.Tx) error {
			var (
				until *wire.Time
				err   error
			)
			_, shown, until, err = s.Rotate(t.Context(), tx, v.ID, chosen, overlap)
			if (until == nil) != (overlap == 0) {
				t.Errorf("an overlap of %v ends at %v", overlap, until)
			}
			return err
		})
		return shown
	}
	secrets := func() []string {
		t.Helper()
		load := webhooks.Load{Org: org, Delivery: delivery}
		if err := s.LoadAll(t.Context(), db.App, []*webhooks.Load{&load}); err != nil || load.Err != nil {
			t.Fatal(err, load.Err)
		}
		return load.Request.Secrets
	}
	signs := func(when string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, secrets()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}

	second := rotate("", 24*time.Hour)
	signs("after a rotation", second, first)
	third := rotate("", time.Second)
	signs("after a second rotation", third, second, first)
	for end := time.Now().Add(5 * time.Minute); len(secrets()) == 3 && time.Now().Before(end); {
	}
	signs("when the shorter overlap has ended", third, first)
	fourth := rotate("", time.Hour)
	signs("after a third rotation", fourth, third, first)
	rotate(first, time.Hour)
	signs("after a rotation to a secret that still signs", first, fourth, third)
	last := rotate("", 0)
	signs("after a rotation without an overlap", last)

	for range 10 {
		last = rotate("", time.Hour)
	}
	if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		_, _, _, err := s.Rotate(t.Context(), tx, v.ID, "", time.Hour)
		return err
	}); !refused(err, fault.Conflict) {
		t.Errorf("the eleventh overlap: %v", err)
	}
	if all := secrets(); len(all) != 11 || all[0] != last {
		t.Errorf("%d secrets sign", len(all))
	}
}

func refused(err error, code fault.Code) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return ok && f.Code == code
}
