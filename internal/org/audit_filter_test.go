package org_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestTheAuditLogIsFilteredByActorActionTargetAndTime(t *testing.T) {
	t.Parallel()
	db, at := testkit.DB(t), id.New()
	ada, bob := id.New().String(), id.New().String()
	for _, e := range []struct{ actor, action, target, ident string }{
		{ada, "member.invited", "member", "m1"},
		{ada, "member.removed", "member", "m1"},
		{bob, "member.removed", "member", "m2"},
		{bob, "key.created", "api_key", "k1"},
	} {
		ctx := events.WithOrigin(t.Context(), events.Origin{ActorType: "user", ActorID: e.actor})
		if err := db.App.Tx(ctx, at, func(tx *postgres.Tx) error {
			org.Audit(ctx, tx, org.Entry{Action: e.action, Target: e.target, ID: e.ident})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	list := func(f org.ActFilter) (found []string, n int64) {
		t.Helper()
		if err := db.App.ReadTx(t.Context(), at, func(tx *postgres.Tx) error {
			acts, err := org.Acts(t.Context(), tx, &f, id.ID{}, 10)
			if err != nil {
				return err
			}
			for _, a := range acts {
				found = append(found, a.Action+" "+a.Target.ID)
			}
			n, err = org.CountActs(t.Context(), tx, &f)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return found, n
	}
	for name, c := range map[string]struct {
		f    org.ActFilter
		want []string
	}{
		"all": {
			org.ActFilter{},
			[]string{"key.created k1", "member.removed m2", "member.removed m1", "member.invited m1"},
		},
		"actor":          {org.ActFilter{Actor: bob}, []string{"key.created k1", "member.removed m2"}},
		"action":         {org.ActFilter{Action: "member.removed"}, []string{"member.removed m2", "member.removed m1"}},
		"type of target": {org.ActFilter{TargetType: "api_key"}, []string{"key.created k1"}},
		"target":         {org.ActFilter{Target: "m1"}, []string{"member.removed m1", "member.invited m1"}},
		"all of them": {
			org.ActFilter{Actor: ada, Action: "member.removed", Target: "m1"},
			[]string{"member.removed m1"},
		},
		"nothing later":   {org.ActFilter{After: time.Now().Add(time.Hour)}, nil},
		"nothing earlier": {org.ActFilter{Before: time.Now().Add(-time.Hour)}, nil},
		"between": {
			org.ActFilter{Actor: ada, After: time.Now().Add(-time.Hour), Before: time.Now().Add(time.Hour)},
			[]string{"member.removed m1", "member.invited m1"},
		},
	} {
		found, n := list(c.f)
		if diff := cmp.Diff(c.want, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if int(n) != len(c.want) {
			t.Errorf("%s: count %d, want %d", name, n, len(c.want))
		}
	}
}
