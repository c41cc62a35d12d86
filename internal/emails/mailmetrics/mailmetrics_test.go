package mailmetrics_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/emails/mailmetrics"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// gatherValues returns the values of the metrics by name and label.
func gatherValues(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			if len(m.GetLabel()) > 0 {
				name += " " + m.GetLabel()[0].GetValue()
			}
			got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return got
}

func TestTheMetricsOfMailsFollowTheTablesAndTheCommits(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	for _, statement := range []string{
		`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, from_name, status,
			held_until, created_at, updated_at)
		SELECT gen_random_uuid(), gen_random_uuid(), 'x', 'smtp', 'a@b.example', 'a@b.example', 'b.example', '', s,
			h::timestamptz, now(), now()
		FROM (VALUES ('held', NULL), ('held', 'infinity'), ('held', '-infinity'), ('active', NULL), ('disabled', NULL))
			AS v (s, h)`,
		`INSERT INTO mailbox_folder (org_id, mailbox_id, folder, next_sync_at)
		SELECT gen_random_uuid(), gen_random_uuid(), 'INBOX', now() - n * interval '1 minute'
		FROM unnest('{-1,5}'::int[]) n`,
	} {
		if _, err := sql.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	reg := prometheus.NewRegistry()
	m := mailmetrics.NewMetrics(reg)
	m.AfterCommit(t.Context(), []any{emails.OutcomeSent, "another note", emails.OutcomeBounced, emails.OutcomeSent})
	ended, end := context.WithCancel(t.Context())
	if err := m.Count(t.Context(), db.System); err != nil {
		t.Fatal(err)
	}
	end()
	if err := m.Watch(ended, db.System, testkit.Log(t)); err != nil {
		t.Error(err)
	}
	got := gatherValues(t, reg)
	if lag := got["funnelwork_mail_inbound_lag_seconds"]; lag < 300 {
		t.Errorf("the first mailbox is overdue by %v s, want 300 or more", lag)
	}
	delete(got, "funnelwork_mail_inbound_lag_seconds")
	want := map[string]float64{
		"funnelwork_mail_outcomes_total sent": 2, "funnelwork_mail_outcomes_total bounced": 1,
		"funnelwork_mail_outcomes_total failed": 0, "funnelwork_mail_outcomes_total unknown": 0,
		"funnelwork_mail_outcomes_total complained": 0,
		"funnelwork_mail_mailboxes held":            2, "funnelwork_mail_mailboxes disabled": 1,
		"funnelwork_mail_broadcasts preparing": 0, "funnelwork_mail_broadcasts sending": 0,
		"funnelwork_mail_broadcasts paused": 0, "funnelwork_mail_tick_lag_seconds": 0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
