package command

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/net/http/httpguts"

	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
)

// openTracer opens the tracer, if there is a collector. It is closed after everything that it traces.
func (p *process) openTracer(ctx context.Context) error {
	endpoint := p.OTLPTraces
	if endpoint == "" && p.OTLPEndpoint != "" {
		endpoint = strings.TrimSuffix(p.OTLPEndpoint, "/") + "/v1/traces"
	}
	if endpoint == "" {
		return nil
	}

	headers, err := traceHeaders(p.OTLPHeaders)
	if err != nil {
		return err
	}

	service := p.OTelService
	if service == "" {
		service = "funnelwork-" + p.name
	}

	p.tracer = spans.New(spans.Options{
		Exporter: spans.NewOTLP(endpoint, headers), Share: p.TraceShare, Service: service, Version: version, Log: p.log,
		Metrics: spans.NewMetrics(p.metrics),
	})
	p.atEnd(func(ctx context.Context) error {
		p.tracer.Close(ctx)
		return nil
	})
	host := ""
	if u, err := url.Parse(endpoint); err == nil {
		host = u.Host // the path may have a token
	}

	p.log.InfoContext(ctx, "traces are exported", "collector", host, "service", service, "share", p.TraceShare)

	return nil
}

// sqlTracer returns the tracer of the pools, or nil if nothing is traced.
func (p *process) sqlTracer() pgx.QueryTracer {
	if p.tracer == nil {
		return nil
	}
	return spans.SQL{}
}

var errHeaders = errors.New("want name=value with commas between them")

// traceHeaders parses the setting as OpenTelemetry defines it: values are percent-encoded.
func traceHeaders(text string) (map[string]string, error) {
	headers := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}

		name, value, _ := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil || value == "" || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, errHeaders
		}

		headers[http.CanonicalHeaderKey(name)] = value
	}

	return headers, nil
}
