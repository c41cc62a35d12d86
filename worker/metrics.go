package worker

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Metrics of the worker. Org is never a label.
type Metrics struct {
	wait, run *prometheus.HistogramVec // by kind and lane
	outcomes  *prometheus.CounterVec   // by kind, lane and outcome
	overruns  *prometheus.CounterVec   // by kind
	claims    *prometheus.CounterVec   // by lane and result
	missed    prometheus.Counter
	lost      prometheus.Counter

	lag     prometheus.Gauge
	looks   *prometheus.CounterVec // by what
	pushed  *prometheus.CounterVec // by what
	behind  prometheus.Counter
	redis   prometheus.Gauge
	swept   *prometheus.CounterVec // by what
	slots   *prometheus.GaugeVec   // by crew
	paused  *prometheus.GaugeVec   // by scope
	lines   prometheus.Gauge
	states  *prometheus.GaugeVec // by lane and state
	pending *prometheus.GaugeVec // by lane
	open    *prometheus.GaugeVec // by lane
	dead    *prometheus.GaugeVec // by lane
	oldest  *prometheus.GaugeVec // by lane
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	buckets := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}
	histogram := func(name, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "funnelwork_jobs_" + name, Help: help, Buckets: buckets}, []string{"kind", "lane"})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "funnelwork_jobs_" + name, Help: help}, labels)
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "funnelwork_jobs_" + name, Help: help})
	}
	gauges := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "funnelwork_jobs_" + name, Help: help}, []string{"lane"})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "funnelwork_jobs_" + name, Help: help})
	}
	m := &Metrics{
		wait:     histogram("wait_seconds", "From when a job was due until it was claimed."),
		run:      histogram("run_seconds", "From the claim until the verdict stood in Postgres."),
		outcomes: counters("runs_total", "Runs by outcome: done, failed, dead, snoozed, released, fenced, let_go.", "kind", "lane", "outcome"),
		overruns: counters("overruns_total", "Runs that did not end 5 s after their time limit.", "kind"),
		claims:   counters("claims_total", "Claims by result: claimed, or failed because Postgres refused or did not answer in time.", "lane", "result"),
		missed:   counter("missed_claims_total", "Deliveries that found nothing to run."),
		lost:     counter("lost_leases_total", "Runs that learned that their job was taken."),
		lag:      gauge("relay_lag_seconds", "How long the row that the relay's last scan found latest was overdue."),
		looks:    counters("relay_rows_total", "Rows that the relay and the feeder touched: wake, reap, feed.", "what"),
		pushed:   counters("relay_pushes_total", "Tasks that the relay and the feeder added to asynq: wake and reap are pushes that had to be repeated.", "what"),
		behind:   counter("tasks_left_behind_total", "Tasks in asynq that could not deliver and got a successor."),
		redis:    gauge("redis_up", "1 while Redis answers the relay."),
		pending:  gauges("pending", "Tasks that wait in asynq."),
		open:     gauges("open", "Jobs that are not done: waiting, pushed and running."),
		dead:     gauges("dead", "Jobs kept after their last failure."),
		oldest:   gauges("oldest_open_seconds", "How long the open job that was due first is overdue."),
	}
	m.swept = counters("swept_total", "What the sweep of asynq's archive found: deleted, entries without a dead job; relisted, dead jobs without an entry.", "what")
	m.slots = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "funnelwork_jobs_slots", Help: "Jobs that this process may run at once: quick serves all but bulk and webhooks, rest all but webhooks, calls webhooks."}, []string{"crew"})
	m.paused = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "funnelwork_jobs_paused", Help: "Lanes, kinds and orgs that an operator has paused."}, []string{"scope"})
	m.lines = gauge("held_lines", "Lines, such as webhook endpoints, that are held.")
	m.states = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "funnelwork_jobs_backlog", Help: "Jobs by state: delayed (for their time), waiting (for a slot), pushed, running, dead. Exact up to 10,000, an estimate beyond."}, []string{"lane", "state"})
	for _, what := range []string{"deleted", "relisted"} {
		m.swept.WithLabelValues(what)
	}
	for _, scope := range []string{"lane", "kind", "org"} {
		m.paused.WithLabelValues(scope)
	}
	reg.MustRegister(m.swept, m.slots, m.paused, m.lines, m.states)
	for _, l := range queue.Lanes() {
		for _, s := range queue.Stages() {
			m.states.WithLabelValues(string(l), string(s))
		}
		for _, g := range []*prometheus.GaugeVec{m.pending, m.open, m.dead, m.oldest} {
			g.WithLabelValues(string(l))
		}
		for _, result := range []string{claimed, claimFailed} { // an alert compares counters that may never have moved
			m.claims.WithLabelValues(string(l), result)
		}
	}
	reg.MustRegister(m.wait, m.run, m.outcomes, m.overruns, m.claims, m.missed, m.lost, m.lag, m.looks, m.pushed, m.behind, m.redis, m.pending, m.open, m.dead, m.oldest)
	return m
}

func (m *Metrics) ran(c *queue.Claimed, outcome string, took time.Duration) {
	m.wait.WithLabelValues(c.Kind, string(c.Lane)).Observe(max(c.Waited, 0).Seconds())
	m.run.WithLabelValues(c.Kind, string(c.Lane)).Observe(took.Seconds())
	m.outcomes.WithLabelValues(c.Kind, string(c.Lane), outcome).Inc()
}

func (m *Metrics) backlog(lanes []queue.Backlog) {
	by := map[queue.Lane]queue.Backlog{}
	for _, b := range lanes {
		by[b.Lane] = b
	}
	for _, lane := range queue.Lanes() {
		b := by[lane]
		for _, s := range queue.Stages() {
			m.states.WithLabelValues(string(lane), string(s)).Set(float64(b.Counts[s]))
		}
		m.open.WithLabelValues(string(lane)).Set(float64(b.Open()))
		m.dead.WithLabelValues(string(lane)).Set(float64(b.Counts[queue.StageDead]))
		m.oldest.WithLabelValues(string(lane)).Set(b.Oldest.Seconds())
	}
}

func (m *Metrics) stopped(s queue.Stops) {
	m.paused.WithLabelValues("lane").Set(float64(len(s.Lanes)))
	m.paused.WithLabelValues("kind").Set(float64(s.Kinds))
	m.paused.WithLabelValues("org").Set(float64(s.Orgs))
	m.lines.Set(float64(s.Lines))
}

func (m *Metrics) sized(concurrency int) {
	m.slots.Reset()
	for crew, n := range slots(concurrency) {
		m.slots.WithLabelValues(crew).Set(float64(n))
	}
}
