package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// orgs is large enough that each org stays below its rate limit, which is on.
const orgs = 5000

// house is a world with the service's captured statements.
type house struct {
	*world
	next     atomic.Int64 // next turn, shared by all crowds
	posting  *recipe
	getting  *recipe
	captured id.ID           // the contact in the captured statements of POST and GET
	bare     map[int]float64 // batches per second of the POST's floor, by number of connections
	api      *process
	worker   *process
	known    known
}

// service measures the API from outside. Load, API, worker, Postgres and Redis share the machine. A ratio is therefore
// the service's share of the floor, the highest rate that the machine could reach.
func service(ctx context.Context, log *slog.Logger) error {
	w, err := newWorld(ctx, log, orgs)
	if err != nil {
		return err
	}
	defer w.close()
	h := &house{world: w, bare: map[int]float64{}}
	for _, step := range []func(context.Context) error{
		h.capture, h.furnish, h.serve, h.throughput, h.withWorker,
		h.mixed, h.jobStart, h.webhook, h.withoutRedis,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// capture runs an API behind a tap for a few requests. The first ones prepare statements and look up the key; the last
// ones are typical of all later ones.
func (h *house) capture(ctx context.Context) error {
	t, url, err := newTap(ctx, h.postgres.URL)
	if err != nil {
		return err
	}
	p, err := h.start(ctx, "api", "DATABASE_URL="+url)
	if err != nil {
		return err
	}
	cl, who := newClients(p.addr, 1), h.orgs[0]
	var mark, contact string
	for range 5 {
		mark = newMark()
		if contact, err = cl.post(who, mark); err != nil {
			return err
		}
		if err = cl.call(0, who.key, fasthttp.MethodGet, contactsPath+"/"+contact, nil, fasthttp.StatusOK,
			nil); err != nil {
			return err
		}
	}
	p.stop()
	t.close()
	posted, ok := t.find("INSERT INTO contact ")
	got, found := t.find("FROM contact c JOIN contact_score")
	if !ok || !found {
		return errors.New("POST and GET statements were not captured")
	}
	if h.captured, err = id.Parse(contact); err != nil {
		return err
	}
	if h.posting, err = newRecipe(ctx, h.admin, posted, who.org, mark); err != nil {
		return err
	}
	if h.getting, err = newRecipe(ctx, h.admin, got, who.org, "get"+mark); err != nil {
		return err
	}
	fmt.Printf("a POST sends %d statements in one batch, a GET %d\n", len(posted), len(got))
	return nil
}

// furnish gives each org a contact by the floor's own statements, which also shows that they work.
func (h *house) furnish(ctx context.Context) error {
	conns, err := h.connect(ctx, 4, postgres.App)
	if err != nil {
		return err
	}
	defer conns.close(ctx)
	errs := make([]error, len(conns))
	var wait sync.WaitGroup
	for c := range conns {
		wait.Go(func() {
			for i := c; i < len(h.orgs) && errs[c] == nil; i += len(conns) {
				h.orgs[i].contact = id.New()
				errs[c] = send(ctx, conns[c],
					h.posting.batch(h.posting.fill(h.orgs[i].org, newMark(),
						map[id.ID]id.ID{h.captured: h.orgs[i].contact})))
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("send the statements of a POST: %w", err)
	}
	if _, err := h.admin.Exec(ctx, "ANALYZE"); err != nil {
		return err
	}
	return h.forget(ctx)
}

func (h *house) serve(ctx context.Context) (err error) {
	h.api, err = h.start(ctx, "api")
	return err
}

// throughput compares POST and GET with their statements in a bare loop, with 8 and with 32 connections.
func (h *house) throughput(ctx context.Context) error {
	for _, n := range []int{8, 32} {
		if err := h.posts(ctx, n); err != nil {
			return err
		}
		if err := h.gets(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

func (h *house) posts(ctx context.Context, n int) error {
	bare, err := h.connect(ctx, n, postgres.App)
	if err != nil {
		return err
	}
	defer bare.close(ctx)
	theirs := newCrowd(h.orgs, &h.next, n)
	cs := []contender{
		{name: "the same batch, bare pgx", op: func(ctx context.Context, w int) error {
			return send(ctx, bare[w], h.posting.batch(h.posting.fill(theirs.caller(w).org, newMark(), nil)))
		}},
		{name: "POST contact", op: newClients(h.api.addr, n).poster(newCrowd(h.orgs, &h.next, n))},
	}
	results, err := match(ctx, cs, n, 7, 400*time.Millisecond)
	if err != nil {
		return err
	}
	got := table(os.Stdout, fmt.Sprintf("POST contact, %d connections, jobs pushed, no worker", n), cs, results)
	verdict(os.Stdout, fmt.Sprintf("POST at least 0.5 of the same batch at %d", n), got[1].mid >= .5, got[1].String())
	h.bare[n] = perSecond(results[0]).mid
	return h.forget(ctx)
}

func (h *house) gets(ctx context.Context, n int) error {
	super, err := h.connect(ctx, n, "")
	if err != nil {
		return err
	}
	defer super.close(ctx)
	bare, err := h.connect(ctx, n, postgres.App)
	if err != nil {
		return err
	}
	defer bare.close(ctx)
	cl := newClients(h.api.addr, n)
	theirs, ours := newCrowd(h.orgs, &h.next, n), newCrowd(h.orgs, &h.next, n)
	query := h.getting.sql[len(h.getting.sql)-1]
	cs := []contender{
		{name: "the query, bare pgx, no row policy", op: func(ctx context.Context, w int) error {
			who := theirs.caller(w)
			return drain(super[w].Query(ctx, query, who.org, who.contact))
		}},
		{name: "the same batch, bare pgx", op: func(ctx context.Context, w int) error {
			who := theirs.caller(w)
			return send(ctx, bare[w],
				h.getting.batch(h.getting.fill(who.org, "", map[id.ID]id.ID{h.captured: who.contact})))
		}},
		{name: "GET contact", op: func(_ context.Context, w int) error {
			who := ours.caller(w)
			return cl.call(w, who.key, fasthttp.MethodGet, contactsPath+"/"+who.contact.String(), nil,
				fasthttp.StatusOK, nil)
		}},
	}
	results, err := match(ctx, cs, n, 7, 250*time.Millisecond)
	if err != nil {
		return err
	}
	got := table(os.Stdout, fmt.Sprintf("GET contact, %d connections", n), cs, results)
	verdict(os.Stdout, fmt.Sprintf("GET at least 0.2 of the bare query at %d", n), got[2].mid >= .2, got[2].String())
	return nil
}

// drain reads all rows without decoding them, and returns an error unless there is exactly one.
func drain(rows pgx.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		_ = rows.RawValues()
		n++
	}
	if rows.Err() == nil && n != 1 {
		return fmt.Errorf("the query returned %d rows", n)
	}
	return rows.Err()
}

// withWorker measures POST contact while a worker runs the resulting jobs. It has no floor, since the worker would run
// the floor's jobs too.
func (h *house) withWorker(ctx context.Context) (err error) {
	if h.worker, err = h.start(ctx, "worker"); err != nil {
		return err
	}
	for _, n := range []int{8, 32} {
		cl := newClients(h.api.addr, n)
		cs := []contender{{name: "POST contact, worker running", op: cl.poster(newCrowd(h.orgs, &h.next, n))}}
		results, err := match(ctx, cs, n, 5, 400*time.Millisecond)
		if err != nil {
			return err
		}
		table(os.Stdout, fmt.Sprintf("POST contact, %d connections, the worker runs its jobs on the same cores", n),
			cs, results)
		fmt.Printf("against the bare batch of some seconds before: %.2f\n", perSecond(results[0]).mid/h.bare[n])
	}
	return h.settle(ctx)
}

// settle deletes what a flood left behind and pauses so that the processes become idle.
func (h *house) settle(ctx context.Context) error {
	if err := h.forget(ctx); err != nil {
		return err
	}
	return pause(ctx, 1500*time.Millisecond)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
