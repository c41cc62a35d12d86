package social_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// TestAClaimReadsOnlyWhatItTakes explains the claim as the System role: it uses the index of due grants, without a
// sort, and reads no more rows than it claims, however many other grants are due.
func TestAClaimReadsOnlyWhatItTakes(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	s.set1(`INSERT INTO social_grant (org_id, id, platform, kind, client_id, subject_id, granted_at, issued_at,
		access_expires_at, refresh_at)
		SELECT gen_random_uuid(), gen_random_uuid(), CASE WHEN g % 4 = 0 THEN 'x'
		ELSE 'tiktok' END, 'social', 'client', g::text, now(), now(), now() + interval '1 hour',
			now() + (g - 10000) * interval '1 second' FROM generate_series(1, 20000) g`)
	s.set1("ANALYZE social_grant")
	for name, c := range map[string]struct {
		sql  string
		args []any
	}{
		"claim": {social.ClaimSQL, []any{"x", "client", nil, 50, time.Minute}},
		"pairs": {social.PairsSQL, []any{nil}},
	} {
		var plan string
		err := s.db.System.Tx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
			return tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) "+c.sql, c.args,
				&plan)
		})
		if err != nil {
			t.Fatal(err)
		}
		for node, want := range map[string]bool{`"social_grant_due"`: true, `"Seq Scan"`: false, `"Sort"`: false} {
			if strings.Contains(plan, node) != want {
				t.Errorf("%s has %s in its plan: %v, want %v:\n%s", name, node, !want, want, plan)
			}
		}
		if n := mostRows(t, plan); n > 50 {
			t.Errorf("%s reads %d rows in one node:\n%s", name, n, plan)
		}
	}
}

// In a quiet time few grants are due, and a claim that wants more than there are must end with the last due one.
func TestAClaimOfFewDueGrantsReadsNoneThatAreNotDue(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	s.set1(`INSERT INTO social_grant (org_id, id, platform, kind, client_id, subject_id, granted_at, issued_at,
		access_expires_at, refresh_at)
		SELECT gen_random_uuid(), gen_random_uuid(), 'x', 'social', 'client', g::text, now(), now(),
			now() + interval '1 hour', now() + interval '1 hour' * (g - 3) FROM generate_series(1, 5000) g`)
	s.set1("ANALYZE social_grant")
	var plan string
	if err := s.db.System.Tx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) "+social.ClaimSQL,
			[]any{"x", "client", nil, 50, time.Minute}, &plan)
	}); err != nil {
		t.Fatal(err)
	}
	if n := mostRows(t, plan); n > 50 {
		t.Errorf("a claim of 3 grants reads %d rows in one node:\n%s", n, plan)
	}
}

// mostRows returns the largest row count of a plan node, including filtered rows.
func mostRows(t *testing.T, plan string) int {
	t.Helper()
	var top []map[string]any
	if err := json.Unmarshal([]byte(plan), &top); err != nil {
		t.Fatal(err)
	}
	most := 0
	var walk func(map[string]any)
	walk = func(n map[string]any) {
		rows := 0
		for _, of := range []string{"Actual Rows", "Rows Removed by Filter"} {
			if v, ok := n[of].(float64); ok {
				rows += int(v)
			}
		}
		most = max(most, rows)
		children, _ := n["Plans"].([]any)
		for _, c := range children {
			walk(c.(map[string]any))
		}
	}
	walk(top[0]["Plan"].(map[string]any))
	return most
}

// TestTheKeyIsRotatedWhileTokensAreRenewed rotates the primary key, reseals everything and drops the old key, while
// four workers, each with its own keyset in memory, renew the tokens of 40 grants repeatedly.
func TestTheKeyIsRotatedWhileTokensAreRenewed(t *testing.T) {
	t.Parallel()
	s := newShore(t, nil)
	s.knobs("x", oauth.Knobs{Rotation: oauth.Strict})
	all := s.grants("herd", "x", 40, time.Hour)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var workers errgroup.Group
	old := s.secret.Ring().Primary
	for range 4 {
		box, err := secret.Load(s.places.Keyset)
		if err != nil {
			t.Fatal(err)
		}
		present := &keyring.Presence{System: s.db.System, Box: box, Role: "worker", Log: testkit.Log(t)}
		if err := present.Enter(ctx); err != nil {
			t.Fatal(err)
		}
		own := &shore{t: t, db: s.db, places: s.places, secret: box, set: s.set, log: s.log}
		r := own.refresher()
		workers.Go(func() error { return present.Run(ctx) })
		workers.Go(func() error {
			for ctx.Err() == nil {
				if err := renewDue(t.Context(), r); err != nil {
					return err
				}
			}
			return nil
		})
	}
	again := func() {
		s.set1("UPDATE social_grant SET refresh_at = now() WHERE attempt_state IS NULL AND refresh_at > now() + " +
			"interval '5 minutes'")
	}
	again()
	key, promoted, err := keyring.Rotation{
		System: s.db.System, Keyset: keyring.File(s.places.Keyset),
		Patience: time.Minute,
	}.Rotate(t.Context())
	if err != nil || !promoted {
		t.Fatal(promoted, err)
	}
	again()
	resealer := keyring.Resealer{System: s.db.System, Box: s.secret, Columns: social.Sealed()}
	until(t, "everything is sealed anew", func() bool {
		settled, err := resealer.Settled(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, shut, err := resealer.Pass(t.Context()); err != nil || shut > 0 {
			t.Fatalf("%d cannot be opened, %v", shut, err)
		}
		return settled
	})
	before := s.requests()
	again()
	until(t, "tokens are renewed after it", func() bool { return s.requests() >= before+len(all)/2 })
	stop()
	if err := workers.Wait(); err != nil {
		t.Error(err)
	}
	var left int
	if err := s.sql.QueryRow(t.Context(),
		"SELECT count(*) FROM social_grant WHERE key_id <> $1 OR status <> 'active' OR fail_count > 0", int64(key)).
		Scan(&left); err != nil || left != 0 {
		t.Errorf("%d grants are not sealed with the new key or not well, %v", left, err)
	}
	uses, err := resealer.Uses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range uses {
		if u.Key == old {
			t.Errorf("%d left in %s", u.Rows, u.Column)
		}
	}
	s.secret.Reload()
	for _, g := range all {
		if !s.alive(g) {
			t.Errorf("%+v", s.stands(g))
		}
	}
}

// renewDue renews the due grants and returns errors as a worker would.
func renewDue(ctx context.Context, r *social.Refresher) error {
	var claims []social.Claim
	_, err := r.Sweep(ctx, func(_ context.Context, _ *postgres.Tx, c social.Claim) error {
		claims = append(claims, c)
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range claims {
		for {
			out, err := r.Refresh(ctx, c)
			var wait social.WaitError
			if errors.As(err, &wait) {
				<-time.After(wait.For)
				continue
			}
			// Recovered is the outcome for a response that another worker has just stored, but has not yet deleted from
			// the journal.
			if err != nil || out != social.Renewed && out != social.Moved && out != social.Recovered {
				return fmt.Errorf("%s: %w", out, err)
			}
			break
		}
	}
	<-time.After(5 * time.Millisecond)
	return nil
}
