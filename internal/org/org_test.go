package org_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// found creates an org with its owner.
func found(t *testing.T, db *testkit.Database) (at, owner id.ID) {
	t.Helper()
	at, owner = id.New(), user(t, db)
	err := db.System.Tx(t.Context(), at, func(tx *postgres.Tx) error {
		org.Create(tx, "Acme", owner)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return at, owner
}

func user(t *testing.T, db *testkit.Database) id.ID {
	t.Helper()
	u := id.New()
	err := db.System.Tx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO app_user (id, email, email_folded) VALUES ($1, $2, $2)`, u, u.String()+"@example.com")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func acts(t *testing.T, db *testkit.Database, at id.ID) []org.AuditEntry {
	t.Helper()
	var list []org.AuditEntry
	err := db.App.ReadTx(t.Context(), at, func(tx *postgres.Tx) (err error) {
		list, err = org.Acts(t.Context(), tx, &org.ActFilter{}, id.ID{}, 10)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestAnActIsLoggedWithWhoDidItAndOnlyIfItHappened(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	at, owner := found(t, db)
	other, _ := found(t, db)
	ctx := events.WithOrigin(t.Context(), events.Origin{ActorType: "user", ActorID: owner.String(), RequestID: "r1"})
	undone := errors.New("undone")
	for _, fails := range []error{undone, nil} {
		err := db.App.Tx(ctx, at, func(tx *postgres.Tx) error {
			_, err := org.AddKey(ctx, tx,
				org.NewKey{Name: "k", Role: "viewer", Hash: []byte{1}, Hint: "abcd", CreatedBy: owner})
			return errors.Join(err, fails)
		})
		if !errors.Is(err, fails) {
			t.Fatal(err)
		}
	}
	list := acts(t, db, at)
	if len(list) != 1 {
		t.Fatalf("%d acts, want 1", len(list))
	}
	who, request := owner.String(), "r1"
	got := list[0]
	if diff := cmp.Diff(org.AuditActor{Type: "user", ID: &who}, got.Actor); diff != "" {
		t.Errorf("actor (-want +got):\n%s", diff)
	}
	if got.Action != "api_key.created" {
		t.Errorf("action %s, want api_key.created", got.Action)
	}
	if got.Target.Type != "api_key" {
		t.Errorf("target %s, want api_key", got.Target.Type)
	}
	if *got.RequestID != request {
		t.Errorf("request %s, want %s", *got.RequestID, request)
	}
	if diff := cmp.Diff(map[string]any{"name": "k", "role": "viewer"}, got.Detail); diff != "" {
		t.Error(diff)
	}
	if list := acts(t, db, other); len(list) != 0 {
		t.Errorf("another org sees %v", list)
	}
	for _, sql := range []string{`UPDATE audit_log SET action = 'nothing'`, `DELETE FROM audit_log`} {
		err := db.App.Tx(ctx, at, func(tx *postgres.Tx) error {
			tx.Queue(sql)
			return nil
		})
		if postgres.Code(err) != "42501" {
			t.Errorf("%s: %v; want no right", sql, err)
		}
	}
}

func TestOneOfTwoAcceptancesAtOnceCounts(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	at, owner := found(t, db)
	token := []byte("hash of a token")
	err := db.App.Tx(t.Context(), at, func(tx *postgres.Tx) error {
		_, err := org.Invite(t.Context(), tx, org.Acting{User: owner, IsOwner: true}, org.Invitation{
			Email: "Bob@example.com", Folded: "bob@example.com", Role: "member", TokenHash: token, By: owner,
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var (
		wg   sync.WaitGroup
		errs [2]error
	)
	for i := range errs {
		bob := user(t, db)
		wg.Go(func() {
			errs[i] = db.App.Tx(t.Context(), at, func(tx *postgres.Tx) error {
				_, _, err := org.Accept(t.Context(), tx, token, bob)
				return err
			})
		})
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !fault.Is(errors.Join(errs[:]...), fault.LinkExpired) {
		t.Errorf("%v and %v; want one success and one link_expired", errs[0], errs[1])
	}
}

func TestSomebodyWhoLeftJoinsAgain(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	at, owner := found(t, db)
	bob, boss := user(t, db), org.Acting{User: owner, IsOwner: true}
	join := func(role, token string) string {
		t.Helper()
		var got string
		err := db.App.Tx(t.Context(), at, func(tx *postgres.Tx) error {
			_, err := org.Invite(t.Context(), tx, boss,
				org.Invitation{
					Email: "b@example.com", Folded: "b@example.com", Role: role, TokenHash: []byte(token),
					By: owner,
				})
			if err == nil {
				got, _, err = org.Accept(t.Context(), tx, []byte(token), bob)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := join("admin", "1"); got != "admin" {
		t.Errorf("joined as %s", got)
	}
	err := db.App.Tx(t.Context(), at, func(tx *postgres.Tx) error {
		left, err := org.Remove(t.Context(), tx, boss, bob, false, func(int64) error { return nil })
		if left != bob {
			t.Errorf("left %v, want %v", left, bob)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := join("viewer", "2"); got != "viewer" {
		t.Errorf("joined again as %s, want the new invitation's role", got)
	}
	if got := join("admin", "3"); got != "viewer" {
		t.Errorf("a member who accepts an invitation is now %s; only SetRole changes a member's role", got)
	}
}
