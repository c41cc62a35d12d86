package entitlementsync_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
	"github.com/funnelwork/funnelwork/jobs/plansweep"
	"github.com/funnelwork/funnelwork/jobs/quotaannounce"
)

// TestAnEditedCatalogueReachesEveryOrgAndCrossingsAreTold covers the whole path: orgs without plan data, the sweep, the
// settling of each org, rows that use up a limit, and the event.
func TestAnEditedCatalogueReachesEveryOrgAndCrossingsAreTold(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	org := id.New()
	if _, err := sql.Exec(t.Context(), `INSERT INTO org (id, name) VALUES ($1, 'Old')`, org); err != nil {
		t.Fatal(err)
	}
	work := func(h queue.Handler) (ran int) {
		t.Helper()
		rows, err := sql.Query(t.Context(), `DELETE FROM job WHERE org_id = $1 AND kind = $2 RETURNING args`, org,
			h.Kind)
		if err != nil {
			t.Fatal(err)
		}
		var all [][]byte
		for rows.Next() {
			var args []byte
			if err := rows.Scan(&args); err != nil {
				t.Fatal(err)
			}
			all = append(all, args)
		}
		for _, args := range all {
			err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
				return h.Tx(t.Context(), tx, &queue.Claimed{ID: id.New(), Kind: h.Kind, Raw: args})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return len(all)
	}
	one := func(query string) (v string) {
		t.Helper()
		if err := sql.QueryRow(t.Context(), query, org).Scan(&v); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return v
	}
	sweep := plansweep.Job{System: db.System, Plans: entitlementsync.Standard()}.Handler()
	settle := entitlementsync.Job{Plans: entitlementsync.Standard()}.Handler()
	for range 2 { // one waiting settling is enough
		if err := sweep.Call(t.Context(),
			&queue.Claimed{ID: id.New(), Kind: sweep.Kind, Raw: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := work(settle); n != 1 {
		t.Fatalf("%d settlings, want 1", n)
	}
	if got, want := one(`SELECT plan_version FROM subscription WHERE org_id = $1`),
		entitlementsync.Standard().Version; got != want {
		t.Errorf("settled by %s", got)
	}
	if err := sweep.Call(t.Context(), &queue.Claimed{ID: id.New(), Kind: sweep.Kind, Raw: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	if n := work(settle); n != 0 {
		t.Errorf("%d settlings of what is settled", n)
	}

	if _, err := sql.Exec(t.Context(), `UPDATE quota SET cap = 5 WHERE org_id = $1 AND feature = 'webhooks'`,
		org); err != nil {
		t.Fatal(err)
	}
	hook := func(count int) {
		t.Helper()
		for range count {
			if _, err := sql.Exec(t.Context(),
				`INSERT INTO webhook_endpoint (org_id, id, url, events, secret, created_at, updated_at, enabled)
					VALUES ($1, $2, 'https://x.example', '{*}', '', now(), now(), false)`, org, id.New()); err != nil {
				t.Fatal(err)
			}
		}
	}
	drop := func() {
		t.Helper()
		if _, err := sql.Exec(t.Context(),
			`UPDATE webhook_endpoint SET archived_at = now() WHERE (org_id, id) = (SELECT org_id, id
				FROM webhook_endpoint WHERE org_id = $1 AND archived_at IS NULL LIMIT 1)`, org); err != nil {
			t.Fatal(err)
		}
	}
	hook(3)
	if n := work(quotaannounce.Handler()); n != 0 {
		t.Errorf("%d crossings at 60 %%", n)
	}
	hook(2)
	drop()
	hook(1)
	if n := work(quotaannounce.Handler()); n != 3 { // 80, 100, and 100 again
		t.Errorf("%d crossings, want 3", n)
	}
	var told []string
	rows, err := sql.Query(t.Context(),
		`SELECT data->'object' FROM event WHERE org_id = $1 AND type = 'quota.reached'
			ORDER BY data->'object'->>'percent', seq`, org)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			t.Fatal(err)
		}
		var q events.Quota
		if err := json.Unmarshal(raw, &q); err != nil {
			t.Fatal(err)
		}
		told = append(told, string(raw))
	}
	const full, most = `{"kind":"webhooks","percent":100,"used":5,"limit":5}`,
		`{"kind":"webhooks","percent":80,"used":4,"limit":5}`
	if got := strings.Join(told, " "); got != full+" "+full+" "+most {
		t.Errorf("told: %s", got)
	}
}
