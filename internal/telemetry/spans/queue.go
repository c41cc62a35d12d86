package spans

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// queueCap is how many ended spans wait for the collector. A further span is dropped.
	queueCap   = 4096
	batchSize  = 512
	batchTime  = time.Second      // the longest wait of a span for others of its batch
	exportTime = 10 * time.Second // timeout of one export with its repetitions
)

// queue is the SDK's batch processor with a bound that is counted: the SDK drops silently. The end of a span never
// waits, and never fails.
type queue struct {
	sdk.SpanProcessor
	waiting atomic.Int64
	metrics *Metrics
}

func newQueue(o Options) *queue {
	q := &queue{metrics: o.Metrics}
	q.SpanProcessor = sdk.NewBatchSpanProcessor(&exporter{SpanExporter: o.Exporter, queue: q, log: o.Log},
		sdk.WithMaxQueueSize(queueCap), sdk.WithMaxExportBatchSize(batchSize), sdk.WithBatchTimeout(batchTime),
		sdk.WithExportTimeout(exportTime))
	return q
}

// OnEnd implements sdk.SpanProcessor.
func (q *queue) OnEnd(s sdk.ReadOnlySpan) {
	if q.waiting.Add(1) > queueCap {
		q.waiting.Add(-1)
		q.metrics.countDropped(queueFull, 1)
		return
	}
	q.SpanProcessor.OnEnd(s)
}

// exporter counts what the next exporter takes. An outage of the collector is logged when it begins and when it ends.
type exporter struct {
	sdk.SpanExporter
	queue *queue
	log   *slog.Logger
	away  atomic.Bool // the last export failed
}

// ExportSpans implements sdk.SpanExporter. It returns no error: the SDK would write it to standard error.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}

	defer e.queue.waiting.Add(-int64(len(spans)))

	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		e.queue.metrics.countExported(len(spans))
	} else {
		e.queue.metrics.countDropped(exportFailed, len(spans))
	}

	switch was := e.away.Swap(err != nil); {
	case err != nil && !was:
		e.log.WarnContext(ctx, "spans are lost: the collector does not take them", "error", err)
	case err == nil && was:
		e.log.InfoContext(ctx, "the collector takes spans again")
	}

	return nil
}
