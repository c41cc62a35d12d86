package auth

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the Prometheus metrics of the package.
type Metrics struct {
	hashes    prometheus.Counter
	logins    *prometheus.CounterVec
	refreshes *prometheus.CounterVec
	throttled *prometheus.CounterVec
	parsed    *prometheus.CounterVec
}

// NewMetrics registers the package's metrics with reg. With a nil reg it creates them unregistered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		hashes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "funnelwork_auth_password_hashes_total",
			Help: "Argon2id computations, including those for unknown addresses.",
		}),
		logins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_auth_logins_total", Help: "Logins by result.",
		}, []string{"result"}),
		refreshes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_auth_refreshes_total",
			Help: "Uses of refresh tokens by result; reused means that the token family was revoked.",
		}, []string{"result"}),
		throttled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_auth_throttled_total", Help: "Requests refused by a throttle, by the name of the limit.",
		}, []string{"by"}),
		parsed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_auth_token_verifications_total",
			Help: "Verified signatures of access tokens, by result; tokens from the cache are not counted.",
		}, []string{"result"}),
	}
	if reg != nil {
		reg.MustRegister(m.hashes, m.logins, m.refreshes, m.throttled, m.parsed)
	}

	return m
}
