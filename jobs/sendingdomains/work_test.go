package sendingdomains_test

import (
	"context"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/sendingdomains"
)

func TestDomainsAreLookedUpEveryHourAndNewOnesSooner(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := sql.Exec(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	var (
		mu      sync.Mutex
		asked   int
		records = map[string][]string{}
	)
	domains := &orgsending.Domains{
		Box: testkit.Box(t), Texts: func(_ context.Context, name string) ([]string, error) {
			mu.Lock()
			defer mu.Unlock()
			asked++
			return records[name], nil
		},
	}
	for range 2 { // two orgs send from one domain, each with its own key
		org := id.New()
		exec(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, org)
		exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, created_at,
			updated_at) VALUES ($1, gen_random_uuid(), 'Box', 'smtp', 'a@shop.example', 'a@shop.example',
			'shop.example', 'active', now(), now())`, org)
		key, err := orgsending.MakeKey()
		if err != nil {
			t.Fatal(err)
		}
		if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			d, _, err := domains.Add(t.Context(), tx, "shop.example", key)
			if err == nil {
				r := d.Shown().Records[0]
				records[r.Name] = []string{r.Value}
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	look := func() int {
		t.Helper()
		asked = 0
		job := sendingdomains.Job{App: db.App, System: db.System, Domains: domains}
		run := &queue.Run[sendingdomains.Args]{Claimed: &queue.Claimed{ID: id.New()}}
		if err := job.Work(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		return asked
	}
	const each = 3 // look-ups of a domain: its key, SPF and DMARC
	for _, step := range []struct {
		ago  string
		want int
	}{{"0 s", 0}, {"61 s", 2 * each}, {"59 minutes", 0}, {"2 minutes", 2 * each}} {
		exec(`UPDATE sending_domain SET next_check_at = next_check_at - $1::interval`, step.ago)
		if n := look(); n != step.want {
			t.Errorf("after %s: %d look-ups, want %d", step.ago, n, step.want)
		}
	}
	var verified, signed, audited int
	if err := sql.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM sending_domain WHERE status = 'verified'),
		(SELECT count(*) FROM mailbox WHERE dkim = 'pass'),
		(SELECT count(*) FROM audit_log WHERE action = 'sending_domain.verified')`).
		Scan(&verified, &signed, &audited); err != nil {
		t.Fatal(err)
	}
	if verified != 2 || signed != 2 || audited != 2 {
		t.Errorf("%d domains are verified, %d mailboxes have a key, %d audit entries", verified, signed, audited)
	}
}
