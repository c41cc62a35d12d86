package ops

import (
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// CollectPool registers metrics of a Postgres pool under the given name.
func CollectPool(reg prometheus.Registerer, name string, db *postgres.DB) {
	labels := prometheus.Labels{"pool": name}
	gauge := func(what, help string, read func(*pgxpool.Stat) float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "funnelwork_postgres_pool_" + what,
			Help: help, ConstLabels: labels,
		},
			func() float64 { return read(db.Stat()) }))
	}
	counter := func(what, help string, read func(*pgxpool.Stat) float64) {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "funnelwork_postgres_pool_" + what,
			Help: help, ConstLabels: labels,
		},
			func() float64 { return read(db.Stat()) }))
	}
	gauge("sessions_in_use", "Sessions that a transaction holds.", func(s *pgxpool.Stat) float64 {
		return float64(s.AcquiredConns())
	})
	gauge("sessions_idle", "Sessions that wait for a transaction.", func(s *pgxpool.Stat) float64 {
		return float64(s.IdleConns())
	})
	gauge("sessions_max", "Sessions that the pool may have.", func(s *pgxpool.Stat) float64 {
		return float64(s.MaxConns())
	})
	counter("acquires_total", "Sessions given out.", func(s *pgxpool.Stat) float64 { return float64(s.AcquireCount()) })
	counter("acquire_waits_total", "Sessions given out only after one came free or was made.",
		func(s *pgxpool.Stat) float64 { return float64(s.EmptyAcquireCount()) })
	counter("acquire_seconds_total", "Time spent on getting a session.", func(s *pgxpool.Stat) float64 {
		return s.AcquireDuration().Seconds()
	})
	counter("sessions_opened_total", "Sessions opened since the start.", func(s *pgxpool.Stat) float64 {
		return float64(s.NewConnsCount())
	})
}

// CollectWrites registers the metric of writes to Postgres.
func CollectWrites(reg prometheus.Registerer, writes *postgres.Writes) {
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "funnelwork_postgres_writes_failing",
		Help: "1 while Postgres takes no writes of this process: it is read-only, full, or away; reads may go on.",
	}, func() float64 {
		if writes.Failing() {
			return 1
		}
		return 0
	}))
}
