package worker

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/backlog"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
)

// Metrics of the worker. The org is never a label.
type Metrics struct {
	wait, run *prometheus.HistogramVec // by kind and lane
	outcomes  *prometheus.CounterVec   // by kind, lane and outcome
	overruns  *prometheus.CounterVec   // by kind
	claims    *prometheus.CounterVec   // by lane and result
	missed    prometheus.Counter
	lost      prometheus.Counter

	lag     prometheus.Gauge
	looks   *prometheus.CounterVec // by scan
	pushed  *prometheus.CounterVec // by scan
	behind  prometheus.Counter
	redis   prometheus.Gauge
	repairs *prometheus.CounterVec // by repair
	swept   *prometheus.CounterVec // deprecated name of repairs
	size    *prometheus.GaugeVec   // by pool
	slots   *prometheus.GaugeVec   // deprecated name of size
	paused  *prometheus.GaugeVec   // by scope
	lines   prometheus.Gauge
	pending *prometheus.GaugeVec // by lane
	backlog *backlog.Gauges
}

// NewMetrics returns metrics registered with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	buckets := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}
	histogram := func(name, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "funnelwork_jobs_" + name, Help: help,
			Buckets: buckets,
		}, []string{"kind", "lane"})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "funnelwork_jobs_" + name, Help: help}, labels)
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "funnelwork_jobs_" + name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "funnelwork_jobs_" + name, Help: help})
	}
	m := &Metrics{
		wait: histogram("wait_seconds", "From when a job was due until it was claimed."),
		run:  histogram("run_seconds", "From the claim until the verdict stood in Postgres."),
		outcomes: counters("runs_total", "Runs by outcome: done, failed, dead, snoozed, released, fenced, let_go.",
			"kind", "lane", "outcome"),
		overruns: counters("overruns_total", "Runs that did not end 5 s after their time limit.", "kind"),
		claims: counters("claims_total",
			"Claims by result: claimed, or failed because Postgres refused or did not answer in time.", "lane",
			"result"),
		missed: counter("missed_claims_total", "Deliveries that found nothing to run."),
		lost:   counter("lost_leases_total", "Runs that learned that their job was taken."),
		lag:    gauge("relay_lag_seconds", "How long the row that the relay's last scan found latest was overdue."),
		looks:  counters("relay_rows_total", "Rows that the relay and the feeder touched: wake, reap, feed.", "what"),
		pushed: counters("relay_pushes_total",
			"Tasks that the relay and the feeder added to asynq: wake and reap are pushes that had to be repeated.",
			"what"),
		behind: counter("tasks_left_behind_total", "Tasks in asynq that could not deliver and got a successor."),
		redis:  gauge("redis_up", "1 while Redis answers the relay."),
		pending: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "funnelwork_jobs_pending", Help: "Tasks that wait in asynq.",
		}, []string{"lane"}),
		backlog: backlog.NewGauges(reg),
	}
	m.repairs = counters("archive_repairs_total",
		"Repairs of asynq's archive: deleted, entries without a dead job; relisted, dead jobs without an entry.",
		"what")
	m.swept = counters("swept_total", "Deprecated: use funnelwork_jobs_archive_repairs_total.", "what")
	m.size = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "funnelwork_jobs_concurrency",
		Help: "Jobs that this process may run at once, by pool: reserved serves the lanes critical and default, " +
			"general all except webhooks and remote, webhooks and remote those lanes.",
	}, []string{"pool"})
	m.slots = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "funnelwork_jobs_slots",
		Help: "Deprecated: use funnelwork_jobs_concurrency.",
	}, []string{"crew"})
	m.paused = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "funnelwork_jobs_paused",
		Help: "Lanes, kinds and orgs that an operator has paused.",
	}, []string{"scope"})
	m.lines = gauge("held_lines", "Lines, such as webhook endpoints, that are held.")
	for _, what := range []string{"deleted", "relisted"} {
		m.repairs.WithLabelValues(what)
		m.swept.WithLabelValues(what)
	}

	for _, scope := range []string{"lane", "kind", "org"} {
		m.paused.WithLabelValues(scope)
	}

	reg.MustRegister(m.repairs, m.swept, m.size, m.slots, m.paused, m.lines)
	for _, l := range queue.Lanes() {
		m.pending.WithLabelValues(string(l))
		for _, result := range []string{claimed, claimFailed} { // an alert compares counters that may never have moved
			m.claims.WithLabelValues(string(l), result)
		}
	}

	reg.MustRegister(m.wait, m.run, m.outcomes, m.overruns, m.claims, m.missed, m.lost, m.lag, m.looks, m.pushed,
		m.behind, m.redis, m.pending)
	return m
}

// countRun records a run. The trace in ctx is the exemplar of its durations.
func (m *Metrics) countRun(ctx context.Context, c *queue.Claimed, outcome string, took time.Duration) {
	spans.Observe(ctx, m.wait.WithLabelValues(c.Kind, string(c.Lane)), max(c.Waited, 0).Seconds())
	spans.Observe(ctx, m.run.WithLabelValues(c.Kind, string(c.Lane)), took.Seconds())
	m.outcomes.WithLabelValues(c.Kind, string(c.Lane), outcome).Inc()
}

func (m *Metrics) setPaused(s store.Stops) {
	m.paused.WithLabelValues("lane").Set(float64(len(s.Lanes)))
	m.paused.WithLabelValues("kind").Set(float64(s.Kinds))
	m.paused.WithLabelValues("org").Set(float64(s.Orgs))
	m.lines.Set(float64(s.Lines))
}

func (m *Metrics) setConcurrency(concurrency int) {
	m.size.Reset()
	m.slots.Reset()
	for pool, n := range poolSlots(concurrency) {
		m.size.WithLabelValues(poolLabels()[pool]).Set(float64(n))
		m.slots.WithLabelValues(pool).Set(float64(n))
	}
}

// poolLabels maps the pools to their label values.
func poolLabels() map[string]string {
	return map[string]string{reserved: "reserved", general: "general", webhookPool: "webhooks", remotePool: "remote"}
}

func (m *Metrics) countRepairs(what string, n int64) {
	m.repairs.WithLabelValues(what).Add(float64(n))
	m.swept.WithLabelValues(what).Add(float64(n))
}
