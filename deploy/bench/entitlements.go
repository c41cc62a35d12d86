package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/valyala/fasthttp"
)

// entitlements measures GET my-entitlements at 1,000 requests per second, in turns with a GET without database reads.
// Load, API, Postgres and Redis share the machine.
func entitlements(ctx context.Context, log *slog.Logger) error {
	const (
		rate, connections = 1000, 32
		rounds, length    = 4, 5 * time.Second
	)
	w, err := newWorld(ctx, log, orgs)
	if err != nil {
		return err
	}
	defer w.close()
	h := &house{world: w}
	p, err := h.start(ctx, "api")
	if err != nil {
		return err
	}
	defer p.stop()
	cl, crowd := newClients(p.addr, connections), newCrowd(h.orgs, &h.next, connections)
	paths := []string{"/billing/plans-with-features", "/billing/my-entitlements"}
	took := make([][]time.Duration, len(paths))
	for round := range rounds + 1 {
		for i, path := range paths {
			one, err := open(ctx, rate, length, connections, func(worker, _ int) error {
				return cl.call(worker, crowd.caller(worker).key, fasthttp.MethodGet, path, nil, fasthttp.StatusOK, nil)
			})
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if round > 0 { // the first round warms up
				took[i] = append(took[i], one...)
			}
		}
	}
	for i, path := range paths {
		slices.Sort(took[i])
		percentiles(fmt.Sprintf("GET %s, %d per second", path, rate), took[i])
	}
	p99 := quantile(took[1], .99)
	verdict(os.Stdout, "p99 of my-entitlements at most 10 ms at 1,000 per second", p99 <= 10*time.Millisecond,
		short(p99))
	return nil
}
