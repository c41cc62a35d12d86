package backlog

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// Gauges are the metrics of the backlog, by lane. The org is never a label.
type Gauges struct {
	states *prometheus.GaugeVec // by lane and state
	open   *prometheus.GaugeVec
	dead   *prometheus.GaugeVec
	oldest *prometheus.GaugeVec
}

// NewGauges returns gauges registered with reg. They are 0 until the first Set.
func NewGauges(reg prometheus.Registerer) *Gauges {
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "funnelwork_jobs_" + name, Help: help}, labels)
	}
	g := &Gauges{
		states: gauges("backlog", "Jobs by state: delayed (for their time), waiting (for a slot), pushed, running, "+
			"dead. Exact up to 10,000, estimated above.", "lane", "state"),
		open:   gauges("open", "Jobs that are not done: waiting, pushed and running.", "lane"),
		dead:   gauges("dead", "Jobs kept after their last failure.", "lane"),
		oldest: gauges("oldest_open_seconds", "How long the open job that was due first is overdue.", "lane"),
	}
	g.Set(nil)
	reg.MustRegister(g.states, g.open, g.dead, g.oldest)
	return g
}

// Set sets the gauges of every lane. A lane that is not in lanes has no jobs.
func (g *Gauges) Set(lanes []store.Backlog) {
	by := map[queue.Lane]store.Backlog{}
	for _, b := range lanes {
		by[b.Lane] = b
	}
	for _, lane := range queue.Lanes() {
		b := by[lane]
		for _, s := range store.Stages() {
			g.states.WithLabelValues(string(lane), string(s)).Set(float64(b.Counts[s]))
		}
		g.open.WithLabelValues(string(lane)).Set(float64(b.Open()))
		g.dead.WithLabelValues(string(lane)).Set(float64(b.Counts[store.StageDead]))
		g.oldest.WithLabelValues(string(lane)).Set(b.Oldest.Seconds())
	}
}
