package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit/stripememory"
)

// till is the service with a Stripe sandbox of known duration.
type till struct {
	*world
	api   *process
	spent atomic.Int64 // nanoseconds spent in Stripe
}

const hookSecret = "whsec_bench" //nolint:gosec // of a Stripe that is made here and gone with the bench

// bills measures the service's own share of a change of plan, and how soon an event is acknowledged.
func bills(ctx context.Context, log *slog.Logger) error {
	w, err := newWorld(ctx, log, 200)
	if err != nil {
		return err
	}
	defer w.close()
	t := &till{world: w}
	if _, err = w.admin.Exec(ctx, "UPDATE api_key SET role = 'owner'"); err != nil {
		return err
	}
	url, err := t.stripe(ctx, log)
	if err != nil {
		return err
	}
	settings := []string{
		"STRIPE_SECRET_KEY=sk_test_bench", "FUNNELWORK_STRIPE_URL=" + url,
		"STRIPE_WEBHOOK_SECRET=" + hookSecret,
	}
	if err := makeKeyset(filepath.Join(w.dir, "home")); err != nil {
		return err
	}
	sync := exec.CommandContext(ctx, w.binary, "billing", "sync")
	sync.Env = append(os.Environ(),
		append(settings, "DATABASE_URL="+w.postgres.URL, "FUNNELWORK_HOME="+w.dir+"/home")...)
	if out, err := sync.CombinedOutput(); err != nil {
		return fmt.Errorf("billing sync: %w\n%s", err, out)
	}
	if t.api, err = w.start(ctx, "api", settings...); err != nil {
		return err
	}
	if err := t.changes(ctx); err != nil {
		return err
	}
	return t.events(ctx)
}

// stripe runs an in-memory sandbox that measures the time that it takes.
func (t *till) stripe(ctx context.Context, log *slog.Logger) (string, error) {
	box := stripe.New(stripe.Options{Store: stripememory.New(), Log: log})
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	srv := &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			began := time.Now()
			box.ServeHTTP(w, r)
			t.spent.Add(int64(time.Since(began)))
		}),
	}
	go func() { _ = srv.Serve(ln) }()
	t.closers = append(t.closers, func() {
		_ = srv.Close()
		box.Close()
	})
	return "http://" + ln.Addr().String(), nil
}

// changes upgrades orgs one after another, so that the time spent in Stripe belongs to the one change.
func (t *till) changes(ctx context.Context) error {
	cl := newClients(t.api.addr, 1)
	var took []time.Duration
	for _, c := range t.orgs {
		for i, plan := range []string{"solo_starter", "solo_pro", "agency_growth"} {
			before, began := t.spent.Load(), time.Now()
			body := []byte(`{"plan":"` + plan + `","interval":"month"}`)
			if err := cl.call(0, c.key, fasthttp.MethodPost, "/billing/change-plan", body, fasthttp.StatusOK,
				nil); err != nil {
				return err
			}
			if i > 0 { // the first change also creates a customer
				took = append(took, time.Since(began)-time.Duration(t.spent.Load()-before))
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	slices.Sort(took)
	percentiles("a change of plan, one at a time, without the time that Stripe takes", took)
	p99 := quantile(took, .99)
	verdict(os.Stdout, "p99 at most 50 ms", p99 <= 50*time.Millisecond, short(p99))
	return nil
}

// events sends signed events of known customers at a steady rate. The floor inserts the same two rows, one statement
// each.
func (t *till) events(ctx context.Context) error {
	const rate, connections, length = 200, 16, 8 * time.Second
	customers, err := t.customers(ctx)
	if err != nil {
		return err
	}
	cl := newClients(t.api.addr, connections)
	took, err := open(ctx, rate, length, connections, func(w, i int) error {
		body := eventBody(customers[i%len(customers)])
		req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		defer fasthttp.ReleaseRequest(req)
		defer fasthttp.ReleaseResponse(res)
		req.Header.SetMethod(fasthttp.MethodPost)
		req.SetRequestURI("http://" + t.api.addr + "/billing/stripe/webhook")
		req.Header.SetContentType("application/json")
		req.Header.Set("Stripe-Signature", stripe.Sign(hookSecret, time.Now(), body))
		req.SetBody(body)
		if err := cl[w].Do(req, res); err != nil {
			return err
		}
		if res.StatusCode() != fasthttp.StatusOK {
			return fmt.Errorf("event: %d %.200s", res.StatusCode(), res.Body())
		}
		return nil
	})
	if err != nil {
		return err
	}
	percentiles(fmt.Sprintf("an event's acknowledgement at %d a second", rate), took)
	p99 := quantile(took, .99)
	verdict(os.Stdout, "p99 at most 50 ms", p99 <= 50*time.Millisecond, short(p99))

	pool, err := pgxpool.New(ctx, t.postgres.URL)
	if err != nil {
		return err
	}
	defer pool.Close()
	floor, err := open(ctx, rate, length, connections, func(_, i int) error {
		c := customers[i%len(customers)]
		_, first := pool.Exec(ctx,
			`INSERT INTO stripe_event (org_id, id, connect, account, type, customer, object_id, created_at,
				source, payload) VALUES ($1, $2, false, '', 'x', '', '', now(), 'sync', $3)`,
			c.org, "evt_"+id.New().String(), string(eventBody(c)))
		_, second := pool.Exec(ctx,
			`INSERT INTO job (org_id, id, kind, args, lane, max_attempts)
				VALUES ($1, $2, 'stripe.event', '{}', 'critical', 1)`, c.org, id.New())
		return errors.Join(first, second)
	})
	if err != nil {
		return err
	}
	percentiles("the floor: the two rows alone", floor)
	return t.forget(ctx)
}

type customer struct {
	org id.ID
	id  string
}

func (t *till) customers(ctx context.Context) (all []customer, err error) {
	rows, err := t.admin.Query(ctx, "SELECT org_id, stripe_id FROM billing_customer")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c customer
		if err := rows.Scan(&c.org, &c.id); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

func eventBody(c customer) []byte {
	return []byte(`{"id":"evt_` + id.New().
		String() + `","object":"event","api_version":"2023-10-16","created":` + strconv.FormatInt(time.Now().
		Unix(), 10) +
		`,"type":"customer.subscription.updated","data":{"object":{"id":"sub_x","object":"subscription","customer":"` +
		c.id + `"}}}`)
}
