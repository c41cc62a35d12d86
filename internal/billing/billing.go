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

// Options configure a Service.
type Options struct {
	App     *postgres.DB // for the rows of one org
	System  *postgres.DB // for events, prices and the sync, which span orgs
	Account Account
	// Catalogue holds the plans for sale.
	Catalogue *plans.Catalogue
	// Secret and ConnectSecret verify the events of the two webhook endpoints; with "" every event is rejected.
	Secret, ConnectSecret string
	// Remind enqueues, in tx, the job that recovers a change if its process dies.
	Remind func(ctx context.Context, tx *postgres.Tx, change id.ID) error
	// Arrived enqueues, in tx, the job that processes an event.
	Arrived func(ctx context.Context, tx *postgres.Tx, event string) error
	// Audit writes, in tx, an entry to the audit log.
	Audit func(ctx context.Context, tx *postgres.Tx, act Act)
	Log   *slog.Logger
	// Metrics may be nil.
	Metrics *Metrics
	// Now is the clock; nil means time.Now. With a Stripe sandbox that has a test clock, it is that clock.
	Now func() time.Time
	// Wall is the real time, used to verify signatures; nil means time.Now.
	Wall func() time.Time
	// Sleep waits between requests of a sync; nil means a real sleep.
	Sleep func(ctx context.Context, d time.Duration) error
	// At is called between the steps of a change. An error aborts the change at that step, as a crash of the process
	// would. It is a hook for tests; nil in production.
	At func(ctx context.Context, point string) error
}

// Act is an entry for the audit log.
type Act struct {
	Action string // area.past_tense
	Target string // kind of object
	ID     string
	Detail map[string]any
}

// Service implements billing through Stripe. It is safe for concurrent use.
type Service struct {
	Options
	Stripe *client.API
}

// New returns a Service. It makes no request.
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

	return &Service{Options: o, Stripe: o.Account.openClient()}
}

// Timestamp returns the clock's time in UTC at the precision of the database.
func (s *Service) Timestamp() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// Metrics are the Prometheus metrics of billing.
type Metrics struct {
	Changes *prometheus.CounterVec // by kind and outcome
	Events  *prometheus.CounterVec // by outcome
	Repairs *prometheus.CounterVec // by kind of difference
	Synced  *prometheus.GaugeVec   // of the last full sync, by result
}

// NewMetrics returns Metrics registered with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		Changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_billing_changes_total", Help: "Changes of plan that reached a state, by kind.",
		}, []string{"kind", "state"}),
		Events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_billing_events_total",
			Help: "Events of the payment processor: stored, known (a duplicate), fetched, or refused.",
		}, []string{"result"}),
		Repairs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_billing_repairs_total",
			Help: "Differences from the payment processor that a sync repaired.",
		}, []string{"what"}),
		Synced: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "funnelwork_billing_sync_subscriptions",
			Help: "Subscriptions of the last full sync: same, repaired or failed.",
		}, []string{"result"}),
	}
	reg.MustRegister(m.Changes, m.Events, m.Repairs, m.Synced)

	return m
}
