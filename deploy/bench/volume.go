package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	flowOrgs        = 4000 // so that no org exceeds its rate limit
	flowConnections = 32
	flowWarm        = 10 * time.Second
	flowMost        = 50 * time.Second // without pauses, for the most that there is
	flowWanted      = 3000
	flowShare       = .7 // of the most, at a steady rate
)

// sized returns the number of "name=number" if args is that, usual if it is the name alone, and false otherwise.
func sized(arg, name string, usual, least int) (n int, ok bool) {
	size, found := strings.CutPrefix(arg, name)
	if n = usual; !found || size == "" {
		return n, found
	}
	_, err := fmt.Sscanf(size, "=%d", &n)
	return n, err == nil && n >= least
}

// flow is an API and a worker with contacts coming in, of which each makes an event.
type flow struct {
	*exchange
	api    *process
	orgs   []caller
	called atomic.Int64
}

func openFlow(ctx context.Context, log *slog.Logger) (f *flow, err error) {
	w, err := newWorld(ctx, log, flowOrgs)
	if err != nil {
		return nil, err
	}
	f = &flow{exchange: &exchange{world: w}, orgs: w.orgs}
	if f.api, err = w.start(ctx, "api"); err == nil {
		f.worker, err = w.start(ctx, "worker")
	}
	if err == nil {
		err = f.know(ctx)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	f.known.api = f.api.cmd.Process.Pid
	return f, nil
}

// eventFlow measures how many events the API takes without pauses, and for some seconds at a steady rate below that.
func eventFlow(ctx context.Context, log *slog.Logger, seconds int) error {
	f, err := openFlow(ctx, log)
	if err != nil {
		return err
	}
	defer f.close()
	cl := newClients(f.api.addr, flowConnections)
	post := calls(cl.poster(newCrowd(f.orgs, &f.called, flowConnections)))
	if _, err := post.forAWhile(ctx, flowConnections, flowWarm); err != nil {
		return err
	}
	if err := f.bareEvents(ctx); err != nil {
		return err
	}
	took, err := post.forAWhile(ctx, flowConnections, flowMost)
	if err != nil {
		return err
	}
	most := float64(len(took)) / flowMost.Seconds()
	percentiles(fmt.Sprintf("POST contact, %d connections without pauses, %.0f events per second", flowConnections,
		most), took)
	rate := min(flowWanted, int(flowShare*most))
	before, known, began := f.usage(ctx), f.events(ctx), time.Now()
	took, err = open(ctx, rate, time.Duration(seconds)*time.Second, flowConnections, func(worker, _ int) error {
		return post(ctx, worker)
	})
	if err != nil {
		return err
	}
	ran := time.Since(began)
	made := f.events(ctx) - known
	reached := float64(made) / ran.Seconds()
	percentiles(fmt.Sprintf("POST contact, %d per second for %s, worker running", rate, ran.Round(time.Second)), took)
	fmt.Printf("%d events stored, %.0f per second; processor an event %s\n", made, reached,
		f.usage(ctx).minus(before).of(made))
	if made != len(took) {
		return fmt.Errorf("%d posts made %d events", len(took), made)
	}
	verdict(os.Stdout, "3,000 events per second", reached >= .99*flowWanted, fmt.Sprintf("%.0f", reached))
	return nil
}

// events returns how many there are.
func (w *world) events(ctx context.Context) (n int) {
	_ = w.admin.QueryRow(ctx, "SELECT count(*) FROM event").Scan(&n)
	return n
}

// calls makes one call by a worker.
type calls func(ctx context.Context, worker int) error

// forAWhile makes calls without pauses and returns their sorted durations.
func (c calls) forAWhile(ctx context.Context, workers int, length time.Duration) ([]time.Duration, error) {
	end := time.Now().Add(length)
	took, errs := make([][]time.Duration, workers), make(chan error, workers)
	for worker := range workers {
		go func() {
			for {
				at := time.Now()
				if at.After(end) {
					errs <- nil
					return
				}
				if err := c(ctx, worker); err != nil {
					errs <- err
					return
				}
				took[worker] = append(took[worker], time.Since(at))
			}
		}()
	}
	var err error
	for range workers {
		err = errors.Join(err, <-errs)
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	return all, err
}

// bareEvents prints how many events plain inserts store, each in a transaction of its own, with the data of one that is
// there.
func (f *flow) bareEvents(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, f.postgres.URL+fmt.Sprintf("&pool_max_conns=%d&application_name=floor",
		flowConnections))
	if err != nil {
		return err
	}
	defer pool.Close()
	insert, err := f.copySQL(ctx, "event", "event", map[string]string{
		"id": "uuidv7_at(now())", "org_id": "g.org",
	}, "(SELECT $1::uuid) g (org)")
	if err != nil {
		return err
	}
	results, err := match(ctx, []contender{{
		name: "an insert of one event, bare pgx",
		op: func(ctx context.Context, worker int) error {
			_, err := pool.Exec(ctx, insert, f.orgs[worker].org)
			return err
		},
	}}, flowConnections, 7, 400*time.Millisecond)
	if err != nil {
		return err
	}
	fmt.Printf("the floor, inserts of one event each: %s per second\n", perSecond(results[0]))
	return nil
}

// copySQL returns an INSERT into one table of a row of another with the same columns, once for each row of series,
// which is named g. Columns of put have that value instead.
func (w *world) copySQL(ctx context.Context, into, from string, put map[string]string, series string) (string, error) {
	rows, err := w.admin.Query(ctx, `SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0
		AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`, from)
	if err != nil {
		return "", err
	}
	var names, values []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return "", err
		}
		value := "s." + name
		if v, ok := put[name]; ok {
			value = v
		}
		names, values = append(names, name), append(values, value)
	}
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM (SELECT * FROM %s LIMIT 1) s, %s", into,
		strings.Join(names, ", "), strings.Join(values, ", "), from, series), rows.Err()
}
