package billing

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stripe/stripe-go/v76/client"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Options of a Service.
type Options struct {
	App     *postgres.DB // every org's own rows
	System  *postgres.DB // events, prices, sync: what is nobody's or everybody's
	Account Account
	// Catalogue is what is sold.
	Catalogue *plans.Catalogue
	// Secret and ConnectSecret verify what comes in by the two webhooks; "" refuses everything.
	Secret, ConnectSecret string
	// Remind adds, in tx, the job that looks after a change whose process died.
	Remind func(ctx context.Context, tx *postgres.Tx, change id.ID) error
	// Arrived adds, in tx, the job that works an event.
	Arrived func(ctx context.Context, tx *postgres.Tx, event string) error
	// Audit writes, in tx, who did what.
	Audit func(ctx context.Context, tx *postgres.Tx, act Act)
	Log   *slog.Logger
	// Metrics may be nil.
	Metrics *Metrics
	// Now is the clock; nil: time.Now. It is Stripe's where that is a sandbox with a clock of its own.
	Now func() time.Time
	// Wall is the real time, which signatures go by; nil: time.Now.
	Wall func() time.Time
	// Sleep waits between requests of a sync; nil: for real.
	Sleep func(ctx context.Context, d time.Duration) error
	// At is called between the steps of a change; an error ends the change there, as the end of the process would.
	// It is for tests of just that; nil in production.
	At func(ctx context.Context, point string) error
}

// Act is an entry for the audit log.
type Act struct {
	Action string // area.past_tense
	Target string // sort of thing
	ID     string
	Detail map[string]any
}

// Service is billing. It is safe for concurrent use.
type Service struct {
	Options
	stripe *client.API
	owners owners
}

// New makes a service and asks nobody.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wall == nil {
		o.Wall = time.Now
	}
	if o.At == nil {
		o.At = func(context.Context, string) error { return nil }
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(prometheus.NewRegistry())
	}
	return &Service{Options: o, stripe: o.Account.open()}
}

// now is the clock's time as rows keep it.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// Metrics of billing.
type Metrics struct {
	changes *prometheus.CounterVec // by kind and outcome
	events  *prometheus.CounterVec // by outcome
	repairs *prometheus.CounterVec // by what was wrong
	walked  *prometheus.GaugeVec   // of the last whole sync, by result
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_billing_changes_total", Help: "Changes of plan that came to a state, by kind.",
		}, []string{"kind", "state"}),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_billing_events_total", Help: "Events of the payment processor: stored, known (came before), or refused.",
		}, []string{"result"}),
		repairs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_billing_repairs_total", Help: "What a sync found to differ from the payment processor, and mended.",
		}, []string{"what"}),
		walked: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "funnelwork_billing_sync_subscriptions", Help: "Subscriptions of the last whole sync: same, repaired or failed.",
		}, []string{"result"}),
	}
	reg.MustRegister(m.changes, m.events, m.repairs, m.walked)
	return m
}
