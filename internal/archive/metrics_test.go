package archive_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/archive"
)

// values returns the metrics of reg by name, or by name and result where they have one.
func values(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			all[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return all
}

func TestMetricsSayHowLongDaysWaitAndWhetherTheyWereArchived(t *testing.T) {
	t.Parallel()
	w := begin(t)
	reg := prometheus.NewRegistry()
	metrics := archive.NewMetrics(reg)
	run := func(m *memory) error {
		d := w.days(m)
		d.Metrics = metrics
		return d.Run(t.Context(), usual)
	}
	count := func() map[string]float64 {
		t.Helper()
		if err := metrics.Count(t.Context(), w.db.System); err != nil {
			t.Fatal(err)
		}
		return values(t, reg)
	}
	if got := count(); got["funnelwork_archive_waiting_days"] != 0 || len(got) != 5 {
		t.Fatalf("before a day has expired: %v", got)
	}
	m := &memory{objects: map[string][]byte{}, killAt: 1}
	w.expire(1)
	if err := run(m); err == nil {
		t.Fatal("the store failed and the run did not")
	}
	w.exec(`UPDATE archive_day SET detached_at = now() - interval '30 hours'`)
	got := count()
	if hours := got["funnelwork_archive_oldest_waiting_seconds"] / 3600; hours < 30 || hours > 31 {
		t.Errorf("a day waits for %g hours, want 30", hours)
	}
	if got["funnelwork_archive_waiting_days"] != 1 || got["funnelwork_archive_days_total failed"] != 1 ||
		got["funnelwork_archive_days_total archived"] != 0 ||
		got["funnelwork_archive_last_success_timestamp_seconds"] != 0 {
		t.Errorf("after a failure: %v", got)
	}
	before := time.Now().Add(-time.Second)
	if err := run(m); err != nil {
		t.Fatal(err)
	}
	got = count()
	if got["funnelwork_archive_waiting_days"] != 0 || got["funnelwork_archive_oldest_waiting_seconds"] != 0 ||
		got["funnelwork_archive_days_total failed"] != 1 || got["funnelwork_archive_days_total archived"] != 1 ||
		got["funnelwork_archive_last_success_timestamp_seconds"] < float64(before.Unix()) {
		t.Errorf("after a success: %v", got)
	}
}
