package ops

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// clockCollector measures a process's clock against that of Postgres when it is scraped.
type clockCollector struct {
	db   *postgres.DB
	desc *prometheus.Desc
}

// clockTimeout bounds the measurement of a scrape. A slower answer says too little.
const clockTimeout = time.Second

// CollectClock registers the metric of the offset between the clocks of Postgres and of this process. Without an answer
// of Postgres there is no sample.
func CollectClock(reg prometheus.Registerer, db *postgres.DB) {
	reg.MustRegister(&clockCollector{db, prometheus.NewDesc("funnelwork_clock_offset_seconds",
		"How far the clock of Postgres is ahead of this process's, to half of a round trip.", nil, nil)})
}

// Describe implements prometheus.Collector.
func (c *clockCollector) Describe(out chan<- *prometheus.Desc) { out <- c.desc }

// Collect implements prometheus.Collector.
func (c *clockCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), clockTimeout)
	defer cancel()

	var theirs time.Time
	began := time.Now()
	if err := c.db.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, "SELECT clock_timestamp()", nil, &theirs)
	}); err != nil {
		return
	}

	ours := began.Add(time.Since(began) / 2)
	out <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, theirs.Sub(ours).Seconds())
}
