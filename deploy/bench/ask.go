package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/id"
)

// askHosts is the number of custom domains.
const askHosts = 10_000

// asks measures /tls/ask with 10,000 custom domains, in turns with /healthz of the same listener, which does neither a
// look-up nor authentication; then once more with Postgres stopped.
func asks(ctx context.Context, log *slog.Logger) error {
	const (
		connections    = 4
		rounds, length = 12, time.Second
	)
	w, err := newWorld(ctx, log, 0)
	if err != nil {
		return err
	}
	defer w.close()
	for n := range askHosts {
		if _, err := w.admin.Exec(ctx,
			`INSERT INTO domain (org_id, id, host, token, status, proven_at) VALUES ($1, $2, $3, 'x', 'active', now())`,
			id.New(), id.New(), askHost(n)); err != nil {
			return err
		}
	}
	p, err := w.start(ctx, "api")
	if err != nil {
		return err
	}
	defer p.stop()
	cl := newClients(p.ops, connections)
	get := func(worker int, path string, want int) error {
		return cl.call(worker, "", fasthttp.MethodGet, path, nil, want, nil)
	}
	known := func(_ context.Context, worker int) error {
		return get(worker, "/tls/ask?domain="+askHost(rand.IntN(askHosts)), http.StatusOK)
	}
	unknown := func(_ context.Context, worker int) error {
		return get(worker, "/tls/ask?domain=x"+askHost(rand.IntN(askHosts)), http.StatusNotFound)
	}
	if err := known(ctx, 0); err != nil {
		return fmt.Errorf("the API does not know the domains: %w", err)
	}
	cs := []contender{
		{name: "a handler that does nothing (/healthz)", op: func(_ context.Context, worker int) error {
			return get(worker, "/healthz", http.StatusOK)
		}},
		{name: "a custom domain", op: known},
		{name: "an unknown name", op: unknown},
	}
	for _, title := range []string{"", ", Postgres stopped"} {
		if title != "" {
			if err := errors.Join(w.admin.Close(ctx), w.postgres.Stop(ctx)); err != nil {
				return err
			}
		}
		results, err := match(ctx, cs, connections, rounds, length)
		if err != nil {
			return err
		}
		table(os.Stdout, fmt.Sprintf("/tls/ask at %d custom domains, %d connections%s", askHosts, connections, title),
			cs, results)
		for i, c := range cs[1:] {
			p99 := middle(results[i+1], func(s slice) time.Duration { return s.p99 })
			verdict(os.Stdout, "p99 of "+c.name+" at most 5 ms"+title, p99 <= 5*time.Millisecond, short(p99))
		}
	}
	return nil
}

func askHost(n int) string { return "crm.customer-" + strconv.Itoa(n) + ".example" }
