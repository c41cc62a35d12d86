package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// open makes calls at a steady rate, whether or not earlier ones have completed. It returns the duration of each from
// the moment it was due, so that a stall counts for all calls that were due during it.
func open(ctx context.Context, rate int, length time.Duration, connections int,
	call func(worker, i int) error,
) ([]time.Duration, error) {
	took, err := openInOrder(ctx, rate, length, connections, call)
	slices.Sort(took)
	return took, err
}

// openInOrder is open that returns the durations in the order in which the calls were due.
func openInOrder(ctx context.Context, rate int, length time.Duration, connections int,
	call func(worker, i int) error,
) ([]time.Duration, error) {
	n := int(length.Seconds() * float64(rate))
	took, errs := make([]time.Duration, n), make([]error, n)
	due := make(chan int, n)
	began := time.Now().Add(10 * time.Millisecond)
	at := func(i int) time.Time { return began.Add(time.Duration(i) * time.Second / time.Duration(rate)) }
	var wait sync.WaitGroup
	for w := range connections {
		wait.Go(func() {
			for i := range due {
				errs[i] = call(w, i)
				took[i] = time.Since(at(i))
			}
		})
	}
	var stopped error
	for i := 0; i < n && stopped == nil; i++ {
		if stopped = pause(ctx, time.Until(at(i))); stopped == nil {
			due <- i
		}
	}
	close(due)
	wait.Wait()
	return took, errors.Join(append(errs, stopped)...)
}

func percentiles(title string, sorted []time.Duration) {
	fmt.Printf("\n%s: p50 %s, p95 %s, p99 %s, longest %s (%d)\n", title,
		short(quantile(sorted, .5)), short(quantile(sorted, .95)), short(quantile(sorted, .99)),
		short(quantile(sorted, 1)), len(sorted))
}

// mixed measures mixed traffic: half reads of one contact, a fifth lists, a fifth creations, a tenth changes.
func (h *house) mixed(ctx context.Context) error {
	const connections = 16
	cl, crowd := newClients(h.api.addr, connections), newCrowd(h.orgs, &h.next, connections)
	took, err := open(ctx, 200, 10*time.Second, connections, func(w, i int) error {
		who := crowd.caller(w)
		one := contactsPath + "/" + who.contact.String()
		switch i % 10 {
		case 0, 1, 2, 3, 4:
			return cl.call(w, who.key, fasthttp.MethodGet, one, nil, fasthttp.StatusOK, nil)
		case 5, 6:
			return cl.call(w, who.key, fasthttp.MethodGet, contactsPath+"?limit=20", nil, fasthttp.StatusOK, nil)
		case 7, 8:
			return cl.call(w, who.key, fasthttp.MethodPost, contactsPath, contactBody(newMark()),
				fasthttp.StatusCreated, nil)
		default:
			return cl.call(w, who.key, fasthttp.MethodPatch, one, []byte(`{"job_title":"`+newMark()+`"}`),
				fasthttp.StatusOK, nil)
		}
	})
	if err != nil {
		return err
	}
	percentiles("200 requests per second (50 % reads, 20 % lists, 20 % creations, 10 % changes), worker running", took)
	p99 := quantile(took, .99)
	verdict(os.Stdout, "p99 at most 20 ms", p99 <= 20*time.Millisecond, short(p99))
	return h.settle(ctx)
}

// jobStart uses two times that the service records: the contact's change, just before the commit, and the recording of
// its new score, inside the job. So the figures are upper bounds.
func (h *house) jobStart(ctx context.Context) error {
	const n = 150
	cl, crowd := newClients(h.api.addr, 1), newCrowd(h.orgs, &h.next, 1)
	ids := make([]string, n)
	for i := range ids {
		var err error
		who := crowd.caller(0)
		if ids[i], err = cl.post(who, newMark()); err != nil {
			return err
		}
		if err = cl.call(0, who.key, fasthttp.MethodPatch, contactsPath+"/"+ids[i],
			[]byte(`{"stage":"customer"}`), fasthttp.StatusOK, nil); err != nil {
			return err
		}
		if err = pause(ctx, 15*time.Millisecond+rand.N(30*time.Millisecond)); err != nil {
			return err
		}
	}
	var took []time.Duration
	for len(took) < n {
		rows, err := h.admin.Query(ctx,
			`SELECT c.updated_at, s.recorded_at FROM contact c JOIN score_history s ON s.org_id = c.org_id
				AND s.contact_id = c.id AND s.recorded_at > c.created_at
			WHERE c.id = ANY ($1::uuid[])`, ids)
		if err != nil {
			return err
		}
		took = took[:0]
		for rows.Next() {
			var made, scored time.Time
			if err := rows.Scan(&made, &scored); err != nil {
				return err
			}
			took = append(took, scored.Sub(made))
		}
		if err := errors.Join(rows.Err(), pause(ctx, 50*time.Millisecond)); err != nil {
			return fmt.Errorf("%d of %d jobs ran: %w", len(took), n, err)
		}
	}
	slices.Sort(took)
	percentiles("commit to job start, idle", took)
	p50 := quantile(took, .5)
	verdict(os.Stdout, "p50 at most 30 ms", p50 <= 30*time.Millisecond, short(p50))
	return h.settle(ctx)
}

// webhook receives deliveries in this process, which is otherwise idle. An envelope's created_at is from just before
// the commit, so the figures are upper bounds.
func (h *house) webhook(ctx context.Context) error {
	const n = 150
	type arrival struct {
		made time.Time
		at   time.Time
	}
	arrived := make(chan arrival, 2*n)
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	receiver := &http.Server{
		ReadHeaderTimeout: time.Second,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			at := time.Now()
			var envelope struct {
				CreatedAt time.Time `json:"created_at"`
			}
			body, err := io.ReadAll(r.Body)
			if err == nil && json.Unmarshal(body, &envelope) == nil {
				arrived <- arrival{envelope.CreatedAt, at}
			}
		}),
	}
	go func() { _ = receiver.Serve(ln) }()
	defer func() { _ = receiver.Close() }()

	cl, crowd := newClients(h.api.addr, 1), newCrowd(h.orgs, &h.next, 1)
	who := crowd.caller(0)
	hook := []byte(`{"url":"http://` + ln.Addr().String() + `/","events":["contact.created"]}`)
	if err := cl.call(0, who.key, fasthttp.MethodPost, "/api/v1/webhooks", hook, fasthttp.StatusCreated,
		nil); err != nil {
		return err
	}
	for range n {
		if _, err := cl.post(who, newMark()); err != nil {
			return err
		}
		if err := pause(ctx, 15*time.Millisecond+rand.N(30*time.Millisecond)); err != nil {
			return err
		}
	}
	took := make([]time.Duration, n)
	for i := range took {
		select {
		case a := <-arrived:
			took[i] = a.at.Sub(a.made)
		case <-ctx.Done():
			return fmt.Errorf("%d of %d webhooks arrived: %w", i, n, ctx.Err())
		}
	}
	slices.Sort(took)
	percentiles("commit to webhook POST, idle", took)
	p50 := quantile(took, .5)
	verdict(os.Stdout, "p50 at most 50 ms", p50 <= 50*time.Millisecond, short(p50))
	return h.settle(ctx)
}

// withoutRedis stops and starts Redis in turns during a steady rate of creations. The figures include the requests
// during the stop itself.
func (h *house) withoutRedis(ctx context.Context) error {
	const connections, rate, length = 16, 100, 2 * time.Second
	cl, crowd := newClients(h.api.addr, connections), newCrowd(h.orgs, &h.next, connections)
	flow := func(then func()) ([]time.Duration, error) {
		return open(ctx, rate, length, connections, func(w, i int) error {
			if i == rate/10 && then != nil {
				then()
			}
			return cl.call(w, crowd.caller(w).key, fasthttp.MethodPost, contactsPath, contactBody(newMark()),
				fasthttp.StatusCreated, nil)
		})
	}
	var normal, away []time.Duration
	halted := make(chan error, 1)
	for range 3 {
		some, err := flow(nil)
		if err != nil {
			return err
		}
		normal = append(normal, some...)
		if some, err = flow(func() { go func() { halted <- h.redis.Halt(ctx) }() }); err != nil {
			return fmt.Errorf("while Redis was unavailable: %w", err)
		}
		away = append(away, some...)
		if err := errors.Join(<-halted, h.redis.Start(ctx), pause(ctx, 2500*time.Millisecond)); err != nil {
			return err
		}
	}
	slices.Sort(normal)
	slices.Sort(away)
	percentiles(fmt.Sprintf("POST contact, %d per second, Redis up", rate), normal)
	percentiles(fmt.Sprintf("POST contact, %d per second, Redis stopped in the middle", rate), away)
	more := quantile(away, .99) - quantile(normal, .99)
	verdict(os.Stdout, "p99 without Redis at most 10 ms above normal", more <= 10*time.Millisecond, short(more)+" more")
	return nil
}
