package auth

import "github.com/prometheus/client_golang/prometheus"

// Metrics of the room.
type Metrics struct {
	hashes    prometheus.Counter
	logins    *prometheus.CounterVec
	refreshes *prometheus.CounterVec
	throttled *prometheus.CounterVec
	parsed    *prometheus.CounterVec
}

// NewMetrics registers the room's metrics with reg; nil makes them without registering.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		hashes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "funnelwork_auth_password_hashes_total", Help: "Argon2id computations, those for unknown addresses included.",
		}),
		logins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_auth_logins_total", Help: "Logins by result.",
		}, []string{"result"}),
		refreshes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_auth_refreshes_total", Help: "Uses of refresh tokens by result; reused means that a family was revoked.",
		}, []string{"result"}),
		throttled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_auth_throttled_total", Help: "Requests refused by a throttle, by what was counted.",
		}, []string{"by"}),
		parsed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "funnelwork_auth_token_verifications_total", Help: "Access tokens whose signature was checked, by result; the others came from the cache.",
		}, []string{"result"}),
	}
	if reg != nil {
		reg.MustRegister(m.hashes, m.logins, m.refreshes, m.throttled, m.parsed)
	}
	return m
}
