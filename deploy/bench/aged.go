package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// agedArgs returns the size of aged=SIZE.
func agedArgs(arg string) (aged.Size, bool) {
	name, ok := strings.CutPrefix(arg, "aged")
	if !ok {
		return aged.Size{}, false
	}
	for _, size := range []aged.Size{aged.Bench, aged.Test, aged.TestOfAYear} {
		if name == "" || name == "="+size.Name {
			return size, true
		}
	}
	return aged.Size{}, false
}

// agedBench builds an aged database, and prints how long each GET operation takes in orgs of each class.
func agedBench(ctx context.Context, log *slog.Logger, size aged.Size) error {
	w, err := newAgedWorld(ctx, log, size)
	if w != nil {
		defer w.close()
	}
	if err != nil {
		return err
	}
	known, err := aged.Look(ctx, w.postgres.URL)
	if err != nil {
		return err
	}
	api, err := w.start(ctx, "api", "FUNNELWORK_KEYSET="+known.Keyset, "FUNNELWORK_RATE_LIMIT=off")
	if err != nil {
		return err
	}
	document, err := fetched(ctx, "http://"+api.addr+"/openapi.json", "")
	if err != nil {
		return err
	}
	for _, class := range []aged.Class{aged.Small, aged.Middle, aged.Grown, aged.Huge} {
		org := known.Org(class)
		reads, err := aged.Reads(ctx, w.admin, org, document)
		if err != nil {
			return err
		}
		if err := agedReads(ctx, os.Stdout, "http://"+api.addr, org, reads); err != nil {
			return err
		}
	}
	return nil
}

// newAgedWorld is a world whose database is an aged one.
func newAgedWorld(ctx context.Context, log *slog.Logger, size aged.Size) (w *world, err error) {
	w = &world{}
	if w.dir, err = os.MkdirTemp("", "funnelwork-bench-"); err != nil {
		return w, err
	}
	w.closers = append(w.closers, func() { _ = os.RemoveAll(w.dir) })
	if err := os.Chmod(w.dir, 0o755); err != nil { //nolint:gosec // the servers' user passes through
		return w, err
	}
	if w.binary, err = build(ctx, w.dir); err != nil {
		return w, err
	}
	home := filepath.Join(w.dir, "postgres")
	if err := os.Mkdir(home, 0o755); err != nil { //nolint:gosec // as above
		return w, err
	}
	if w.postgres, err = local.StartPostgres(ctx, local.PostgresOptions{Home: home, Fast: true, Log: log}); err != nil {
		return w, err
	}
	w.closers = append(w.closers, func() { _ = w.postgres.Stop(context.WithoutCancel(ctx)) })
	if w.redis, err = local.StartRedis(ctx, local.RedisOptions{Log: log}); err != nil {
		return w, err
	}
	w.closers = append(w.closers, func() { _ = w.redis.Stop(context.WithoutCancel(ctx)) })
	began := time.Now()
	if err := aged.Prepare(ctx, w.postgres.URL, size, aged.Grew); err != nil {
		return w, err
	}
	fmt.Printf("built %s in %s\n", size.Name, time.Since(began).Round(time.Second))
	if w.admin, err = pgx.Connect(ctx, w.postgres.URL); err != nil {
		return w, err
	}
	w.closers = append(w.closers, func() { _ = w.admin.Close(context.WithoutCancel(ctx)) })
	return w, nil
}

// agedRepeats is how often each read is sent after the first time.
const agedRepeats = 3

// agedSlow is the median from which on a variant has a line of its own.
const agedSlow = 30 * time.Millisecond

// agedReads sends the reads of an org, and prints the times of each operation over all its variants, and the slowest
// variant; then each slow variant.
func agedReads(ctx context.Context, out io.Writer, base string, org aged.Org, reads []aged.Request) error {
	took, slowest := map[string][]time.Duration{}, map[string]aged.Request{}
	most := map[string]time.Duration{}
	all := []time.Duration{}
	slow := []string{}
	for _, read := range reads {
		times := []time.Duration{}
		for n := range agedRepeats + 1 {
			began := time.Now()
			if _, err := fetched(ctx, base+read.Path, org.Key); err != nil {
				return err
			}
			if n == 0 {
				continue // caches are filled, and plans made
			}
			d := time.Since(began)
			times = append(times, d)
			if d > most[read.Operation] {
				most[read.Operation], slowest[read.Operation] = d, read
			}
		}
		took[read.Operation] = append(took[read.Operation], times...)
		all = append(all, times...)
		if middle := quantile(slices.Sorted(slices.Values(times)), 0.5); middle > agedSlow {
			slow = append(slow, fmt.Sprintf("  %8s  %s", ms(middle), read.Name))
		}
	}
	fmt.Fprintf(out, "\n%s org, %d contacts, %d reads\n  %8s %8s %8s  operation, slowest variant\n", org.Class,
		org.Contacts, len(reads), "p50", "p99", "longest")
	line := func(name string, times []time.Duration, variant string) {
		slices.Sort(times)
		fmt.Fprintf(out, "  %8s %8s %8s  %s%s\n", ms(quantile(times, 0.5)), ms(quantile(times, 0.99)),
			ms(times[len(times)-1]), name, variant)
	}
	operations := []string{}
	for name := range took {
		operations = append(operations, name)
	}
	slices.SortFunc(operations, func(a, b string) int { return int(most[b] - most[a]) })
	for _, name := range operations {
		line(name, took[name], strings.TrimPrefix(slowest[name].Name, name))
	}
	line("all", all, "")
	fmt.Fprintf(out, "  %d of %d variants take %s or more\n%s\n", len(slow), len(reads), agedSlow,
		strings.Join(slow, "\n"))
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// fetched returns the body of a response. What an API key may not read has none.
func fetched(ctx context.Context, url, key string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= http.StatusInternalServerError {
		return nil, fmt.Errorf("%s: %s", url, res.Status)
	}
	return io.ReadAll(res.Body)
}
