package social

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// RefreshMetrics reports the metrics of a Refresher. A nil *RefreshMetrics does nothing. The org is never a label.
type RefreshMetrics struct {
	outcomes *prometheus.CounterVec // by platform and outcome
	lifes    *prometheus.CounterVec // by platform
	breaks   *prometheus.CounterVec // by platform
	held     *prometheus.GaugeVec   // by platform and cause
	grants   *prometheus.GaugeVec   // by platform and status
	lag      prometheus.Gauge
	stale    prometheus.Gauge
}

// NewRefreshMetrics registers the metrics and initializes the series of every platform of the catalogue.
func NewRefreshMetrics(reg prometheus.Registerer) *RefreshMetrics {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "funnelwork_social_" + name, Help: help}, labels)
	}
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "funnelwork_social_" + name, Help: help}, labels)
	}
	m := &RefreshMetrics{
		outcomes: counters("refreshes_total",
			"Attempts to renew tokens: renewed, recovered, moved, postponed, dead, transient, unknown, throttled, "+
				"misconfigured.", "platform", "outcome"),
		lifes:  counters("assumed_lifetimes_total", "Answers that stated no lifetime of their token.", "platform"),
		breaks: counters("breaks_total", "How often a platform began to refuse our application.", "platform"),
		held: gauges("held",
			"1 while a platform is not asked for tokens: throttled, misconfigured. Every worker counts all.",
			"platform", "cause"),
		grants: gauges("grants", "Logins by status. Every worker counts all.", "platform", "status"),
		lag: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_social_refresh_lag_seconds",
			Help: "How long the longest overdue grant is overdue.",
		}),
		stale: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_social_stale_grants",
			Help: "Grants shown as active with an access token that expired more than five minutes ago.",
		}),
	}
	reg.MustRegister(m.outcomes, m.lifes, m.breaks, m.held, m.grants, m.lag, m.stale)
	for _, p := range provider.Catalogue() {
		for _, o := range []Outcome{Renewed, Refused, Lost} {
			m.outcomes.WithLabelValues(p.Platform, string(o))
		}
		m.lifes.WithLabelValues(p.Platform)
		m.breaks.WithLabelValues(p.Platform)
	}

	m.resetGauges()

	return m
}

// resetGauges resets the gauges to zero.
func (m *RefreshMetrics) resetGauges() {
	m.held.Reset()
	m.grants.Reset()
	for _, p := range provider.Catalogue() {
		m.held.WithLabelValues(p.Platform, causeMisconfigured)
		m.grants.WithLabelValues(p.Platform, Active)
	}
}

func (m *RefreshMetrics) countEnded(platform string, o Outcome) {
	if m != nil {
		m.outcomes.WithLabelValues(platform, string(o)).Inc()
	}
}

func (m *RefreshMetrics) countAssumedLifetime(platform string) {
	if m != nil {
		m.lifes.WithLabelValues(platform).Inc()
	}
}

func (m *RefreshMetrics) countBreak(platform string) {
	if m != nil {
		m.breaks.WithLabelValues(platform).Inc()
	}
}

const (
	// watchEvery is the interval at which grants are counted, if they are few.
	watchEvery = 30 * time.Second
	// watchShare is the part of the time that counts of many grants may take: one in watchShare.
	watchShare = 500
)

// Watch counts grants and holds periodically until ctx ends. db is the System role's pool.
func (m *RefreshMetrics) Watch(ctx context.Context, db *postgres.DB, log *slog.Logger) error {
	for {
		began := time.Now()
		counting, cancel := context.WithTimeout(ctx, watchEvery/2)
		err := m.look(counting, db)
		cancel()
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "count grants failed", "error", err)
		}

		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(watchEvery, watchShare*time.Since(began))):
		}
	}
}

// look reads all counts and then sets the gauges.
func (m *RefreshMetrics) look(ctx context.Context, db *postgres.DB) error {
	type count struct {
		Platform, What string
		N, Stale       int64
	}
	var grants, holds []count
	var lag float64
	err := db.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		for sql, into := range map[string]*[]count{
			`SELECT platform, status, count(*), count(*) FILTER (WHERE status = 'active'
				AND access_expires_at < now() - interval '5 minutes')
			FROM social_grant WHERE status <> 'revoked' GROUP BY 1, 2`: &grants,
			`SELECT platform, cause, 1::bigint, 0::bigint FROM social_hold WHERE cause = 'misconfigured'
				OR held_until > now()`: &holds,
		} {
			rows, err := tx.Query(ctx, sql)
			if err != nil {
				return err
			}
			if *into, err = pgx.CollectRows(rows, pgx.RowToStructByPos[count]); err != nil {
				return err
			}
		}

		return tx.QueryRow(ctx,
			`SELECT coalesce(extract(epoch FROM now() - min(refresh_at)), 0)::float8 FROM (`+pairsSQL+`) AS due`,
			[]any{nil}, &lag)
	})
	if err != nil {
		return err
	}

	m.resetGauges()
	stale := int64(0)
	for _, g := range grants {
		m.grants.WithLabelValues(g.Platform, g.What).Set(float64(g.N))
		stale += g.Stale
	}

	for _, h := range holds {
		m.held.WithLabelValues(h.Platform, h.What).Set(1)
	}

	m.stale.Set(float64(stale))
	m.lag.Set(max(0, lag))

	return nil
}
