package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/platformretention"
)

const (
	dropRate        = 200
	dropConnections = 16
	dropWarm        = 5 * time.Second
	dropBefore      = 30 * time.Second
	dropAfter       = 25 * time.Second // from the start of the drop on
	dropLook        = 20 * time.Millisecond
)

// dropping posts contacts at a steady rate while something is removed.
type dropping struct {
	*world
	clients clients
	crowd   *crowd
	watch   *pgx.Conn // looks at what sessions wait for
}

// drops measures POST contact at a steady rate while retention drops a day of n events, whose pages are not in memory,
// and the same while files of the day's sizes are removed: that is what the file system costs by itself.
func drops(ctx context.Context, log *slog.Logger, n int) error {
	w, err := newWorld(ctx, log, flowOrgs)
	if err != nil {
		return err
	}
	defer w.close()
	api, err := w.start(ctx, "api")
	if err != nil {
		return err
	}
	if _, err := newClients(api.addr, 1).post(w.orgs[0], newMark()); err != nil {
		return err
	}
	if err := w.oldDay(ctx, n); err != nil {
		return fmt.Errorf("build the day: %w", err)
	}
	files, err := w.filesOf(ctx, oldDayName())
	if err == nil {
		err = evict(files)
	}
	if err != nil {
		return err
	}
	fmt.Printf("its %d files are on %s\n", len(files), mountOf(files[0].path))
	system, err := postgres.Open(ctx, postgres.Options{
		URL: w.postgres.URL, Role: postgres.System, MaxConns: 2, Name: "bench",
	})
	if err != nil {
		return err
	}
	defer system.Close()
	d := &dropping{
		world: w, clients: newClients(api.addr, dropConnections),
		crowd: newCrowd(w.orgs, new(atomic.Int64), dropConnections),
	}
	if d.watch, err = pgx.Connect(ctx, w.postgres.URL); err != nil {
		return err
	}
	defer func() { _ = d.watch.Close(context.WithoutCancel(ctx)) }()
	job := platformretention.Job{System: system, Log: log}
	ratio, err := d.beside(ctx, "retention's run", func() error { return job.Work(ctx, nil) })
	if err != nil {
		return err
	}
	var left int
	if err := w.admin.QueryRow(ctx, `SELECT count(*) FROM pg_class WHERE relname LIKE $1 || '%'`, oldDayName()).
		Scan(&left); err != nil || left > 0 {
		return errors.Join(err, fmt.Errorf("%d of the day's relations are left", left))
	}
	bare, err := d.bareFiles(ctx, files)
	if err != nil {
		return err
	}
	verdict(os.Stdout, "p99 during the drop at most 2 times that before", ratio <= 2,
		fmt.Sprintf("%.2f; with plain files %.2f", ratio, bare))
	return nil
}

// bareFiles is the floor: the removal of files of the same sizes.
func (d *dropping) bareFiles(ctx context.Context, files []file) (ratio float64, err error) {
	copies, err := writeLike(ctx, d.dir, files)
	if err == nil {
		_, err = d.admin.Exec(ctx, "CHECKPOINT")
	}
	if err != nil {
		return 0, err
	}
	syscall.Sync()
	if err := evict(copies); err != nil {
		return 0, err
	}
	return d.beside(ctx, "the removal of as many plain files", func() error { return free(copies) })
}

// beside posts at a steady rate and has remove run meanwhile. It prints the posts before that, those that were due from
// its start until a second after its end, and those after, and returns the ratio of the first two's p99.
func (d *dropping) beside(ctx context.Context, title string, remove func() error) (ratio float64, err error) {
	var removing sync.WaitGroup
	var took time.Duration
	var failed error
	var w waits
	post := d.clients.poster(d.crowd)
	start := int((dropWarm + dropBefore).Seconds()) * dropRate
	posts, err := openInOrder(ctx, dropRate, dropWarm+dropBefore+dropAfter, dropConnections, func(worker, i int) error {
		if i == start {
			removing.Go(func() {
				watching, stop := context.WithCancel(ctx)
				defer stop()
				removing.Go(func() { w = d.waits(watching) })
				at := time.Now()
				failed = remove()
				took = time.Since(at)
				_ = pause(ctx, time.Second)
			})
		}
		return post(ctx, worker)
	})
	removing.Wait()
	if err := errors.Join(err, failed); err != nil {
		return 0, err
	}
	if took > dropAfter {
		return 0, fmt.Errorf("%s took %s, which is longer than the posts went on", title, took)
	}
	end := min(start+int((took+time.Second).Seconds()*dropRate), len(posts))
	part := func(title string, from, to int) time.Duration {
		some := slices.Sorted(slices.Values(posts[from:to]))
		percentiles(fmt.Sprintf("POST contact, %d per second, %s", dropRate, title), some)
		return quantile(some, .99)
	}
	before := part("before", int(dropWarm.Seconds())*dropRate, start)
	during := part(title+" of "+short(took)+" and a second more", start, end)
	part("after", end, len(posts))
	fmt.Printf("longest of each half second from the start of %s on: %s\n", title, worstOf(posts[start:], dropRate/2))
	fmt.Printf("sessions of the API waited for: %s\n", w)
	return during.Seconds() / before.Seconds(), nil
}

// worstOf returns the longest duration of each n posts.
func worstOf(posts []time.Duration, n int) string {
	var parts []string
	for some := range slices.Chunk(posts, n) {
		parts = append(parts, fmt.Sprintf("%.0f", slices.Max(some).Seconds()*1e3))
	}
	return strings.Join(parts, " ") + " ms"
}

// waits is how often sessions were seen to wait, by what for.
type waits map[string]int

// waits looks at the sessions of the API until ctx ends.
func (d *dropping) waits(ctx context.Context) waits {
	w := waits{}
	for ctx.Err() == nil {
		rows, _ := d.watch.Query(context.WithoutCancel(ctx), `
			SELECT coalesce(wait_event_type || ' ' || wait_event, 'nothing') FROM pg_stat_activity
			WHERE application_name = 'funnelwork api' AND state = 'active'`)
		var what string
		if _, err := pgx.ForEachRow(rows, []any{&what}, func() error {
			w[what]++
			return nil
		}); err != nil {
			return w
		}
		_ = pause(ctx, dropLook)
	}
	return w
}

func (w waits) String() string {
	all, parts := 0, []string{}
	for _, n := range w {
		all += n
	}
	byCount := func(a, b string) int { return w[b] - w[a] }
	for _, what := range slices.SortedFunc(maps.Keys(w), byCount) {
		parts = append(parts, fmt.Sprintf("%s %.0f %%", what, 100*float64(w[what])/float64(all)))
	}
	return strings.Join(parts, ", ")
}
