package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/migrations"
)

// readyWithin is the timeout of a readiness check. Probes commonly wait for a second or more.
const readyWithin = 900 * time.Millisecond

// readiness reports whether the process can work now: Postgres responds, its schema is not older than this binary's,
// Redis responds, and the process is not shutting down. Each ?exclude=NAME skips a check, as in Kubernetes' readyz. An
// API process can work without Redis for a while and should not be taken out of service for that.
//
// While writes to Postgres fail, an API process still reads: it is ready and degraded. A worker and a scheduler can do
// nothing: they are not ready.
type readiness struct {
	checks []check
	redis  redis.UniversalClient
	writes *postgres.Writes
	lacks  []httpx.Part // shown; does not affect readiness
}

type check struct {
	name string
	run  func(context.Context) error
}

type checked struct {
	OK     bool    `json:"ok"`
	TookMS float64 `json:"took_ms"`
	Reason string  `json:"reason,omitempty"`
}

func newReadiness(o Options) (*readiness, error) {
	client, err := redisx.Open(o.RedisURL, redisx.Worker)
	if err != nil {
		return nil, err
	}

	checks := []check{
		{"postgres", o.DB.Ping},
		{"redis", func(ctx context.Context) error { return client.Ping(ctx).Err() }},
		{"migrations", pendingCheck(o.DatabaseURL)},
	}
	if o.Ending != nil {
		checks = append(checks, check{"process", func(context.Context) error {
			if o.Ending() {
				return errEnding
			}
			return nil
		}})
	}

	for name, run := range o.Ready {
		checks = append(checks, check{name, run})
	}

	writes := o.DB.Writes()
	if o.Role == "worker" || o.Role == "scheduler" {
		checks = append(checks, check{writesPart, func(ctx context.Context) error { return checkWrites(ctx, writes) }})
	}

	return &readiness{
		redis: client, checks: checks, writes: writes, lacks: append([]httpx.Part{}, o.NotConfigured...),
	}, nil
}

// writesPart is the name of what is degraded, and of the check, while writes to Postgres fail.
const writesPart = "writes"

func checkWrites(ctx context.Context, writes *postgres.Writes) error {
	ok, err := writes.Check(ctx)
	if err == nil && !ok {
		err = errNoWrites
	}
	return err
}

func (rd *readiness) close() error { return rd.redis.Close() }

var (
	errPending  = errors.New("the database lacks migrations of this version")
	errEnding   = errors.New("the process is shutting down")
	errNoWrites = errors.New("the database takes no writes")

	// ErrKeyset is the reason for a process that could read only part of what is sealed.
	ErrKeyset = errors.New("the keyset lacks a key under which data is sealed")

	// ErrUnpublished is the reason for a sandbox on which no plan can be bought yet.
	ErrUnpublished = errors.New("the prices of the billing sandbox are not published yet")
)

// pendingCheck returns a check for pending migrations. It caches success, since a schema only gains migrations and the
// binary does not change.
func pendingCheck(url string) func(context.Context) error {
	var done atomic.Bool
	return func(ctx context.Context) error {
		if done.Load() {
			return nil
		}
		pending, err := migrations.Pending(ctx, url)
		if err == nil && pending {
			err = errPending
		}
		done.Store(err == nil)
		return err
	}
}

// ServeHTTP responds with 200 or 503 and the failed checks. A reason names the kind of failure and no address, since
// the endpoint needs no password.
func (rd *readiness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyWithin)
	defer cancel()

	without := r.URL.Query()["exclude"]
	var (
		wait    sync.WaitGroup
		results = make([]*checked, len(rd.checks))
	)

	for i, c := range rd.checks {
		if !slices.Contains(without, c.name) {
			wait.Go(func() { results[i] = c.runCheck(ctx) })
		}
	}

	degraded := []string{}
	if !slices.Contains(without, writesPart) {
		wait.Go(func() {
			if checkWrites(ctx, rd.writes) != nil {
				degraded = append(degraded, writesPart)
			}
		})
	}

	wait.Wait()

	body := struct {
		Status        string              `json:"status"`
		Checks        map[string]*checked `json:"checks"`
		Degraded      []string            `json:"degraded"`
		NotConfigured []httpx.Part        `json:"not_configured"`
	}{"ready", map[string]*checked{}, degraded, rd.lacks}
	status := http.StatusOK
	for i, c := range rd.checks {
		if results[i] == nil {
			continue
		}
		if body.Checks[c.name] = results[i]; !results[i].OK {
			body.Status = "not ready"
			status = http.StatusServiceUnavailable
		}
	}

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (c check) runCheck(ctx context.Context) (res *checked) {
	began := time.Now()
	res = &checked{}
	defer func() {
		if v := recover(); v != nil {
			res.OK = false
			res.Reason = "error"
		}
		res.TookMS = float64(time.Since(began).Microseconds()) / 1000
	}()

	err := c.run(ctx)
	switch {
	case err == nil:
		res.OK = true
	case errors.Is(err, errPending), errors.Is(err, errEnding), errors.Is(err, errNoWrites),
		errors.Is(err, ErrUnpublished), errors.Is(err, ErrKeyset):
		res.Reason = err.Error()
	case errors.Is(err, context.DeadlineExceeded), ctx.Err() != nil:
		res.Reason = fmt.Sprintf("no answer within %s", readyWithin)
	case c.name == "redis", postgres.Away(err):
		res.Reason = "unavailable"
	default:
		res.Reason = "error"
	}

	return res
}

func serveHealth(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
}
