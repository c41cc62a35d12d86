package spans

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/funnelwork/funnelwork/internal/outbound"
)

// postTime bounds one request.
const postTime = 10 * time.Second

// firstPause is the pause before an export is repeated. It doubles with each repetition.
const firstPause = 500 * time.Millisecond

// NewOTLP returns an exporter that posts OTLP to endpoint, such as http://localhost:4318/v1/traces. Each request has
// the headers, such as a token.
func NewOTLP(endpoint string, headers map[string]string) sdk.SpanExporter {
	c := &client{
		url: endpoint, header: http.Header{"Content-Type": {"application/x-protobuf"}},
		// The headers must not follow a redirect to another host.
		http: &http.Client{
			Transport: outbound.NewTransport(http.ProxyFromEnvironment), Timeout: postTime,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	for name, value := range headers {
		c.header.Set(name, value)
	}

	return otlptrace.NewUnstarted(c)
}

// client implements otlptrace.Client over HTTP.
type client struct {
	url    string
	header http.Header
	http   *http.Client
}

// Start implements otlptrace.Client. It does nothing: a collector that is away does not keep a process from starting.
func (*client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It repeats the request, as OTLP asks, until ctx ends.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData has the wire format of ExportTraceServiceRequest, whose package would bring gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}

	for wait := firstPause; ; wait *= 2 {
		again, err := c.postBatch(ctx, body)
		if err == nil || !again {
			return err
		}

		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// postBatch reports whether the request may be repeated after err. The text of err has neither the URL nor a header,
// which may contain a token.
func (c *client) postBatch(ctx context.Context, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}

	req.Header = c.header.Clone()
	res, err := c.http.Do(req)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err
		}
		return ctx.Err() == nil, err
	}

	defer func() { _ = res.Body.Close() }()

	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection is used again
	switch res.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}

	return again, fmt.Errorf("the collector answers %d", res.StatusCode)
}
