package mailboxdomains_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/mailboxdomains"
)

func TestDomainsAreLookedUpEveryHourAndCompleteOnesEveryDay(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := sql.Exec(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	for n := range 2 { // two orgs with a mailbox of each domain
		org := id.New()
		exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, org)
		for domain, kind := range map[string]string{
			"good.example": "smtp", "bad.example": "smtp", "sandbox.localhost": "sandbox",
		} {
			exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, created_at,
				updated_at) VALUES ($1, $2, 'Box', $3, $4, $4, $5, 'unverified', now(), now())`, org, id.New(), kind,
				fmt.Sprintf("%d@%s", n, domain), domain)
		}
	}
	var (
		mu      sync.Mutex
		asked   map[string]int
		records = map[string]branding.MailRecords{
			"good.example": {SPF: "pass", DKIM: "pass", DMARC: "pass"},
			"bad.example":  {SPF: "pass", DKIM: "missing", DMARC: "unknown"},
		}
	)
	look := func() map[string]int {
		t.Helper()
		asked = map[string]int{}
		find := func(_ context.Context, domain string) branding.MailRecords {
			mu.Lock()
			defer mu.Unlock()
			asked[domain]++
			return records[domain]
		}
		job := mailboxdomains.Job{System: db.System, Records: find}
		run := &queue.Run[mailboxdomains.Args]{Claimed: &queue.Claimed{ID: id.New()}}
		if err := job.Work(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		return asked
	}
	found := func() (all map[string]int) {
		t.Helper()
		all = map[string]int{}
		rows, err := sql.Query(t.Context(), `SELECT concat_ws(' ', from_domain, spf, dkim, dmarc), count(*)
			FROM mailbox GROUP BY 1`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var (
				s string
				n int
			)
			if err := rows.Scan(&s, &n); err != nil {
				t.Fatal(err)
			}
			all[s] = n
		}
		return all
	}
	for i, step := range []struct {
		ago  string // since the last look-up
		want map[string]int
	}{
		{"0 s", map[string]int{"good.example": 1, "bad.example": 1}},
		{"59 minutes", map[string]int{}},
		{"61 minutes", map[string]int{"bad.example": 1}},
		{"25 hours", map[string]int{"good.example": 1, "bad.example": 1}},
	} {
		exec(`UPDATE mailbox SET domain_checked_at = now() - $1::interval WHERE domain_checked_at IS NOT NULL`,
			step.ago)
		if diff := cmp.Diff(step.want, look()); diff != "" {
			t.Errorf("step %d, after %s (-want +got):\n%s", i, step.ago, diff)
		}
	}
	want := map[string]int{
		"good.example pass pass pass": 2, "bad.example pass missing unknown": 2,
		"sandbox.localhost unknown unknown unknown": 2,
	}
	if diff := cmp.Diff(want, found()); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	records["good.example"] = branding.MailRecords{SPF: "missing", DKIM: "unknown", DMARC: "unknown"}
	exec(`UPDATE mailbox SET domain_checked_at = now() - interval '25 hours' WHERE domain_checked_at IS NOT NULL`)
	look()
	if n := found()["good.example missing pass pass"]; n != 2 {
		t.Errorf("a look-up that failed changed a finding: %v", found())
	}
}
