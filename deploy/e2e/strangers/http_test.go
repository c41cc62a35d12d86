package strangers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/archive"
	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
	"github.com/funnelwork/funnelwork/internal/testkit/strangers"
)

// httpClient is a client of the product, and one of its calls.
type httpClient struct {
	name   string
	call   func(context.Context, *strangers.Server) error
	bound  int64         // of the bytes of one call, with its repetitions
	within time.Duration // of one call, with its repetitions
	// end, if set, ends the context of the call, as callers of a client do whose own time limit is minutes.
	end time.Duration
	// ignoresBody is set if a good status decides what the call returns, and takesAny if any status is a result.
	ignoresBody, takesAny bool
	// brief is set if another client of the list reads its responses by the same code.
	brief bool
}

func httpClients() []httpClient {
	all := []httpClient{
		{
			name: "webhook", call: postWebhook, bound: 256 << 10, within: 20 * time.Second,
			ignoresBody: true, takesAny: true,
		},
		{name: "AI", call: completeText, bound: 2 << 20, within: 20 * time.Second, end: 10 * time.Second},
		{name: "Stripe", call: readStripe, bound: 24 << 20, within: 50 * time.Second},
		{
			name: "archive, put", call: putObject, bound: 4 << 20, within: 20 * time.Second,
			end: 10 * time.Second, ignoresBody: true,
		},
		{name: "archive, open", call: openObject, bound: 66 << 20, within: 20 * time.Second, end: 10 * time.Second},
		{
			name: "traces", call: exportSpans, bound: 4 << 20, within: 20 * time.Second, end: 12 * time.Second,
			ignoresBody: true,
		},
	}
	for i, platform := range provider.Catalogue() {
		for _, op := range []string{"exchange", "refresh", "login", "revoke"} {
			if platform.Platform == "outlook" && op == "login" {
				continue // the token says who signed in
			}
			all = append(all, httpClient{
				name: platform.Platform + " " + op, bound: 4 << 20, within: 40 * time.Second,
				call: func(ctx context.Context, s *strangers.Server) error {
					return callPlatform(ctx, s, platform.Platform, op)
				},
				// A provider may revoke by its status alone.
				ignoresBody: op == "revoke", brief: i > 0,
			})
		}
	}
	return all
}

func postWebhook(ctx context.Context, s *strangers.Server) error {
	c := outbound.New(outbound.Options{Policy: outbound.Policy{AllowPrivate: true}})
	a := c.Post(ctx, "http://"+s.Address+"/", http.Header{}, []byte("{}"))
	if len(a.Body) > outbound.MaxAnswer {
		return fmt.Errorf("%w: %d bytes of the body", errOutcome, len(a.Body))
	}
	if a.Err == nil {
		return nil
	}
	return a.Err
}

func completeText(ctx context.Context, s *strangers.Server) error {
	_, err := ai.Open(ai.Options{URL: "http://" + s.Address, Model: "x"}).Complete(ctx, ai.Call{Name: "x"})
	return err
}

// readStripe reads a response whole, as Stripe's library does.
func readStripe(ctx context.Context, s *strangers.Server) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Address+"/v1/prices/x", nil)
	if err != nil {
		return errors.Join(errOutcome, err)
	}
	res, err := billing.NewHTTP().Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	_, err = io.ReadAll(res.Body)
	return err
}

func bucketAt(s *strangers.Server) (*archive.Bucket, error) {
	return archive.OpenBucket("s3://bucket?endpoint=http://"+s.Address, "key", "secret")
}

func putObject(ctx context.Context, s *strangers.Server) error {
	b, err := bucketAt(s)
	if err != nil {
		return errors.Join(errOutcome, err)
	}
	return b.Put(ctx, "x", []byte("x"))
}

func openObject(ctx context.Context, s *strangers.Server) error {
	b, err := bucketAt(s)
	if err != nil {
		return errors.Join(errOutcome, err)
	}
	o, err := b.Open(ctx, "x")
	if err != nil {
		return err
	}
	defer func() { _ = o.Close() }()
	_, err = io.Copy(io.Discard, o)
	return err
}

func exportSpans(ctx context.Context, s *strangers.Server) error {
	e := spans.NewOTLP("http://"+s.Address+"/v1/traces", nil)
	defer func() { _ = e.Shutdown(context.WithoutCancel(ctx)) }()
	return e.ExportSpans(ctx, tracetest.SpanStubs{{Name: "x"}}.Snapshots())
}

func callPlatform(ctx context.Context, s *strangers.Server, platform, op string) error {
	apps := map[string]provider.App{}
	for _, spec := range provider.Catalogue() {
		apps[spec.Family] = provider.App{
			ClientID: "x", ClientSecret: "x", DeveloperToken: "x", Base: "http://" + s.Address,
		}
	}
	p, err := provider.New(provider.Options{Apps: apps}).Get(platform)
	if err != nil {
		return errors.Join(errOutcome, err)
	}
	token := provider.Token{Access: "x:y", Refresh: "x", Subject: "x"}
	switch op {
	case "exchange":
		_, err = p.Exchange(ctx, "x", "x", "https://app.example.com/oauth")
	case "refresh":
		_, err = p.Refresh(ctx, token)
	case "login":
		_, _, err = p.Login(ctx, token)
	case "revoke":
		err = p.Revoke(ctx, token)
	}
	return err
}

func TestNoHTTPServerIsReadWithoutEnd(t *testing.T) {
	t.Parallel()
	all := newTable(t)
	for _, c := range httpClients() {
		for _, status := range []int{200, 400, 401, 503} {
			for _, a := range httpAttacks(status) {
				if c.brief && (status != 200 || !strings.HasSuffix(a.Name, " body")) {
					continue
				}
				all.add(hostile{
					name: fmt.Sprintf("%s, status %d: %s", c.name, status, a.Name), talk: strangers.HTTP(a),
					bound: c.bound, within: c.within, maySucceed: c.ignoresBody && status == 200 || c.takesAny,
					call: func(ctx context.Context, s *strangers.Server) error {
						if c.end > 0 {
							var cancel context.CancelFunc
							ctx, cancel = context.WithTimeout(ctx, c.end)
							defer cancel()
						}
						return c.call(ctx, s)
					},
				})
			}
		}
	}
	all.run()
}

func TestNoRedirectIsFollowedWithoutEnd(t *testing.T) {
	t.Parallel()
	all := newTable(t)
	for _, c := range httpClients() {
		for _, status := range []int{301, 302, 307, 308} {
			raw := fmt.Sprintf("HTTP/1.1 %d x\r\nLocation: /%s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
				status, bytes.Repeat([]byte("x"), 1<<10))
			redirect := strangers.Attack{Send: func(c *strangers.Conn) { _, _ = io.WriteString(c, raw) }}
			all.add(hostile{
				name: fmt.Sprintf("%s, status %d", c.name, status), bound: 1 << 20, within: c.within,
				maySucceed: c.ignoresBody,
				talk:       strangers.HTTP(redirect),
				call:       c.call,
			})
		}
	}
	all.run()
}
