package social

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// RefreshMetrics of a Refresher. A nil one counts nothing. Org is never a label.
type RefreshMetrics struct {
	outcomes *prometheus.CounterVec // by platform and outcome
	lifes    *prometheus.CounterVec // by platform
	breaks   *prometheus.CounterVec // by platform
	held     *prometheus.GaugeVec   // by platform and cause
	grants   *prometheus.GaugeVec   // by platform and status
	lag      prometheus.Gauge
	stale    prometheus.Gauge
}

// NewRefreshMetrics registers them. platforms are those of the install.
func NewRefreshMetrics(reg prometheus.Registerer, platforms []string) *RefreshMetrics {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "funnelwork_social_" + name, Help: help}, labels)
	}
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "funnelwork_social_" + name, Help: help}, labels)
	}
	m := &RefreshMetrics{
		outcomes: counters("refreshes_total", "Attempts to renew tokens: renewed, recovered, moved, postponed, dead, transient, unknown, throttled, misconfigured.", "platform", "outcome"),
		lifes:    counters("assumed_lifetimes_total", "Answers that stated no lifetime of their token.", "platform"),
		breaks:   counters("breaks_total", "How often a platform began to refuse our application.", "platform"),
		held:     gauges("held", "1 while a platform is not asked for tokens: throttled, misconfigured. Every worker counts all.", "platform", "cause"),
		grants:   gauges("grants", "Logins by status. Every worker counts all.", "platform", "status"),
		lag:      prometheus.NewGauge(prometheus.GaugeOpts{Name: "funnelwork_social_refresh_lag_seconds", Help: "How long the grant that was due first is overdue."}),
		stale:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "funnelwork_social_stale_grants", Help: "Grants shown as active whose access token ended more than five minutes ago."}),
	}
	reg.MustRegister(m.outcomes, m.lifes, m.breaks, m.held, m.grants, m.lag, m.stale)
	for _, p := range platforms {
		m.outcomes.WithLabelValues(p, string(Renewed))
		m.lifes.WithLabelValues(p)
		m.breaks.WithLabelValues(p)
		m.held.WithLabelValues(p, causeMisconfigured)
		m.grants.WithLabelValues(p, string(Active))
	}
	return m
}

func (m *RefreshMetrics) ended(platform string, o Outcome) {
	if m != nil {
		m.outcomes.WithLabelValues(platform, string(o)).Inc()
	}
}

func (m *RefreshMetrics) assumed(platform string) {
	if m != nil {
		m.lifes.WithLabelValues(platform).Inc()
	}
}

func (m *RefreshMetrics) broke(platform string) {
	if m != nil {
		m.breaks.WithLabelValues(platform).Inc()
	}
}

// watchEvery spaces the counts of grants.
const watchEvery = 30 * time.Second

// Watch counts grants and holds until ctx ends; db is the System role's.
func (m *RefreshMetrics) Watch(ctx context.Context, db *postgres.DB, log *slog.Logger) error {
	for {
		counting, cancel := context.WithTimeout(ctx, watchEvery/2)
		err := m.look(counting, db)
		cancel()
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "grants not counted", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchEvery):
		}
	}
}

func (m *RefreshMetrics) look(ctx context.Context, db *postgres.DB) error {
	return db.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		var platform, what string
		var n, stale int64
		rows, err := tx.Query(ctx, `SELECT platform, status, count(*), count(*) FILTER (WHERE status = 'active' AND access_expires_at < now() - interval '5 minutes')
			FROM social_grant WHERE status <> 'revoked' GROUP BY 1, 2`)
		if err != nil {
			return err
		}
		m.grants.Reset()
		all := int64(0)
		if _, err = pgx.ForEachRow(rows, []any{&platform, &what, &n, &stale}, func() error {
			m.grants.WithLabelValues(platform, what).Set(float64(n))
			all += stale
			return nil
		}); err != nil {
			return err
		}
		m.stale.Set(float64(all))
		if rows, err = tx.Query(ctx, `SELECT platform, cause, (cause = 'misconfigured' OR held_until > now())::int::bigint FROM social_hold`); err != nil {
			return err
		}
		m.held.Reset()
		if _, err = pgx.ForEachRow(rows, []any{&platform, &what, &n}, func() error {
			m.held.WithLabelValues(platform, what).Set(float64(n))
			return nil
		}); err != nil {
			return err
		}
		var lag float64
		if err := tx.QueryRow(ctx, `SELECT coalesce(extract(epoch FROM now() - min(refresh_at)), 0)::float8 FROM (`+pairsSQL+`) AS due`, []any{nil}, &lag); err != nil {
			return err
		}
		m.lag.Set(max(0, lag))
		return nil
	})
}
