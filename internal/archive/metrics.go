package archive

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Metrics of the archive. A nil *Metrics counts nothing.
type Metrics struct {
	days     *prometheus.CounterVec // by result
	success  prometheus.Gauge
	waiting  prometheus.Gauge
	overdue  prometheus.Gauge
	interval time.Duration
}

// Results of a day.
const (
	resultArchived = "archived"
	resultFailed   = "failed"
)

// NewMetrics returns metrics registered with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "funnelwork_archive_" + name, Help: help})
	}
	m := &Metrics{
		days: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_archive_days_total",
			Help: "Days by result: archived and dropped, or failed, which the next run repeats.",
		}, []string{"result"}),
		success: gauge("last_success_timestamp_seconds",
			"When this process last archived and dropped a day; 0 if it has not."),
		waiting: gauge("waiting_days", "Days that left their table and wait for the archive. Every worker counts all."),
		overdue: gauge("oldest_waiting_seconds",
			"How long the day that left its table first has waited for the archive. Every worker counts all."),
		interval: time.Minute,
	}
	for _, result := range []string{resultArchived, resultFailed} {
		m.days.WithLabelValues(result)
	}

	reg.MustRegister(m.days, m.success, m.waiting, m.overdue)
	return m
}

func (m *Metrics) countArchived() {
	if m != nil {
		m.days.WithLabelValues(resultArchived).Inc()
		m.success.SetToCurrentTime()
	}
}

func (m *Metrics) countFailed() {
	if m != nil {
		m.days.WithLabelValues(resultFailed).Inc()
	}
}

// Watch counts the days that wait until ctx ends. db is the System role's pool. While Postgres is unavailable the
// gauges keep their values. It returns nil.
func (m *Metrics) Watch(ctx context.Context, db *postgres.DB, log *slog.Logger) error {
	tick := time.NewTicker(m.interval)
	defer tick.Stop()
	for {
		if err := m.countWaiting(ctx, db); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "failed to count the days that wait for the archive", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (m *Metrics) countWaiting(ctx context.Context, db *postgres.DB) error {
	ctx, cancel := context.WithTimeout(ctx, m.interval/2)
	defer cancel()
	var days int64
	var oldest float64
	err := db.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*), coalesce(extract(epoch FROM now() - min(detached_at)), 0)::float8
			FROM archive_day`, nil, &days, &oldest)
	})
	if err != nil {
		return err
	}
	m.waiting.Set(float64(days))
	m.overdue.Set(oldest)
	return nil
}
