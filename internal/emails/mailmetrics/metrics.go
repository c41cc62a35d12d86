package mailmetrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/emails"
)

// Metrics of mails. The org is never a label.
type Metrics struct {
	outcomes   *prometheus.CounterVec // by outcome
	mailboxes  *prometheus.GaugeVec   // by status
	broadcasts *prometheus.GaugeVec   // by status
	inbound    prometheus.Gauge
	ticks      prometheus.Gauge
}

// NewMetrics returns metrics registered with reg. The gauges are 0 until the first count.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_mail_outcomes_total",
			Help: "Emails by what became of them: sent, failed, unknown, bounced, complained.",
		}, []string{"outcome"}),
		mailboxes: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "funnelwork_mail_mailboxes",
			Help: "Mailboxes that cannot send for now, by status: held, disabled.",
		}, []string{"status"}),
		broadcasts: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "funnelwork_mail_broadcasts", Help: "Broadcasts under way, by status: preparing, sending, paused.",
		}, []string{"status"}),
		inbound: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_mail_inbound_lag_seconds",
			Help: "How long the mailbox that was to be read first is overdue.",
		}),
		ticks: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "funnelwork_mail_tick_lag_seconds",
			Help: "How long the step of a sequence that was due first is overdue.",
		}),
	}
	for _, o := range emails.Outcomes() {
		m.outcomes.WithLabelValues(string(o))
	}
	m.setGauges(&state{})
	reg.MustRegister(m.outcomes, m.mailboxes, m.broadcasts, m.inbound, m.ticks)
	return m
}

// AfterCommit counts the outcomes among a transaction's notes; pass it to postgres.Options.
func (m *Metrics) AfterCommit(_ context.Context, notes []any) {
	for _, n := range notes {
		if o, ok := n.(emails.Outcome); ok {
			m.outcomes.WithLabelValues(string(o)).Inc()
		}
	}
}

func (m *Metrics) setGauges(s *state) {
	m.mailboxes.WithLabelValues("held").Set(s.Held)
	m.mailboxes.WithLabelValues("disabled").Set(s.Disabled)
	m.broadcasts.WithLabelValues("preparing").Set(s.Preparing)
	m.broadcasts.WithLabelValues("sending").Set(s.Sending)
	m.broadcasts.WithLabelValues("paused").Set(s.Paused)
	m.inbound.Set(s.InboundLag)
	m.ticks.Set(s.TickLag)
}
