// Package spans traces requests, SQL, Redis commands, jobs, webhook attempts and mails with OpenTelemetry.
//
//	tracer.go   starts the spans of requests and jobs, and spans below them
//	queue.go    the bounded queue of ended spans
//	otlp.go     sends them to a collector
//	sql.go redis.go   hooks of the clients
//	metrics.go  counts exported and dropped spans; exemplars
//
// A Tracer starts the span of a request or of a job. Everything below takes the tracer from the context's span, so no
// other package is configured: without a recorded span Start does nothing, and costs one look into the context.
//
// A trace crosses the job table by the column traceparent of a row, whose default is the setting app.traceparent of the
// transaction. The job's span continues the trace in which the job was added, and links to the span that added it.
//
// A span has no argument of a statement or command, no literal of a statement, no key, no path or query of a URL, no
// address, no header, no text of an error and no text that a user wrote, except the request id, which logs have too.
//
// # Why
//
// The exporter is otlptrace, which converts spans to OTLP, with a client of our own that posts them. The client of
// otlptracehttp posts the same, but the package of its request message contains the gRPC service. It would add 137
// packages to the program, among them gRPC and grpc-gateway; the SDK with otlptrace and our client adds 42. A program
// of the exporter alone is 19.8 MB with it and 12.4 MB without. The program has protobuf already, by the client of
// Prometheus.
//
// What is not traced costs no allocation and no statement: 0.6 microseconds a request for looks into the context, and,
// for each row of a job, an event or a delivery, less than half a microsecond for the column's default, which is null.
package spans
