package api_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
)

// TestCountersEqualTheTruthWhateverHappensAtOnce lets several callers create, batch, archive, restore and purge
// contacts of one org while its limit is set, changed and removed. No counter may differ from the rows, and no request
// may exceed the limit while it is constant.
func TestCountersEqualTheTruthWhateverHappensAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("solo_starter")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	const workers, acts, limit = 8, 60, 25
	ada.allow(map[string]int{"contacts": limit})
	race := func(acts int, meanwhile func(r *rand.Rand)) {
		var wait sync.WaitGroup
		for w := range workers {
			wait.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(w)))
				var mine []string
				for range acts {
					mine = ada.actOn(r, mine)
				}
			})
		}
		if meanwhile != nil {
			wait.Go(func() { meanwhile(rand.New(rand.NewPCG(seed, workers))) })
		}
		wait.Wait()
	}
	truth := func(when string) {
		t.Helper()
		var used, rows, most int64
		err := testkit.Pgx(t, s.DB.URL).QueryRow(t.Context(),
			`SELECT used, quota_truth(org_id, 'contacts'), cap FROM quota WHERE org_id = $1 AND feature = 'contacts'`,
			ada.Org).Scan(&used, &rows, &most)
		if err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if used != rows || rows == 0 {
			t.Errorf("%s: counted %d, there are %d; want the same, above 0", when, used, rows)
		}
		if when == "under one limit" && rows > most {
			t.Errorf("%d contacts under a limit of %d", rows, most)
		}
	}
	race(acts, nil)
	truth("under one limit")

	set := func(plan string) {
		err := s.DB.App.Tx(t.Context(), ada.Org, func(tx *postgres.Tx) error {
			tx.Queue(`DELETE FROM plan_override WHERE org_id = $1`, ada.Org)
			_, err := entitlementsync.Standard().Set(t.Context(), tx,
				plans.State{Plan: plan, Interval: "month", Status: plans.Active, Quantity: 1})
			return err
		})
		if err != nil {
			t.Errorf("set %s: %v", plan, err)
		}
	}
	race(acts, func(r *rand.Rand) {
		for range 40 { // counted, then not, then counted from the rows
			set([]string{"solo_starter", "white_label_enterprise"}[r.IntN(2)])
		}
	})
	set("solo_starter")
	truth("after limits that came and went")
	race(acts/3, nil)
	truth("after all of it")
}

// actOn performs one action on the worker's contacts and returns those it has afterwards.
func (c *caller) actOn(r *rand.Rand, mine []string) []string {
	fresh := func() string {
		return fmt.Sprintf(`{"email":"p%d@acme.example","first_name":"P","last_name":"P"}`, r.IntN(60))
	}
	ask := func(method, path string, body any) answer {
		got, err := c.try(method, path, body)
		if err != nil || got.Status >= 500 {
			c.Errorf("%s %s: %d %s %v", method, path, got.Status, got.Body, err)
		}
		return got
	}
	one := ""
	if len(mine) > 0 {
		one = mine[r.IntN(len(mine))]
	}
	switch what := r.IntN(10); {
	case what < 4 || one == "":
		if got := ask("POST", contactsPath, fresh()); got.Status == 201 {
			mine = append(mine, strings.TrimPrefix(got.Header.Get("Location"), contactsPath+"/"))
		}
	case what < 5:
		ask("POST", contactsPath+"/batch", `{"contacts":[`+fresh()+`,`+fresh()+`,`+fresh()+`]}`)
	case what < 7:
		ask("DELETE", contactsPath+"/"+one, nil)
	case what < 9:
		ask("POST", contactsPath+"/"+one+"/restore", nil)
	default:
		ask("POST", contactsPath+"/"+one+"/purge", nil)
	}
	return mine
}
