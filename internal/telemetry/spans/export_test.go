package spans

import sdk "go.opentelemetry.io/otel/sdk/trace"

// QueueCap is how many spans wait for the collector.
const QueueCap = queueCap

// Redact is redactSQL.
var Redact = redactSQL

// Counting returns the exporter of o as the queue calls it.
func Counting(o Options) sdk.SpanExporter {
	return &exporter{SpanExporter: o.Exporter, queue: &queue{metrics: o.Metrics}, log: o.Log}
}
