package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// usage is CPU time by process: of the worker, of the servers, and of this process, which is the client and the
// receiver and does not count. Postgres's is split by the client of its backends.
type usage map[string]time.Duration

// here is the name of this process.
const here = "this process"

// tick is the unit of /proc: 1/100 s on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// known are the measured processes: the API and the scheduler if there are such, the worker, Redis, and the parent of
// Postgres's processes.
type known struct{ api, worker, scheduler, redis, postmaster int }

// know finds the processes.
func (x *exchange) know(ctx context.Context) error {
	x.known.worker = x.worker.cmd.Process.Pid
	return x.known.servers(ctx, x.admin, x.redis.URL)
}

// servers finds the servers behind admin and url.
func (k *known) servers(ctx context.Context, admin *pgx.Conn, url string) error {
	var backend int
	if err := admin.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return err
	}
	if f := stat(strconv.Itoa(backend)); f != nil {
		k.postmaster, _ = strconv.Atoi(f[1])
	}
	client, err := redisClient(url)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	k.redis, err = infoOf(ctx, client, "server", "process_id")
	return err
}

// infoOf returns a number of Redis's INFO.
func infoOf(ctx context.Context, client redis.UniversalClient, section, name string) (int, error) {
	info, err := client.Info(ctx, section).Result()
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(info, name+":")
	line, _, _ := strings.Cut(after, "\r")
	return strconv.Atoi(line)
}

// redisReads returns how often Redis has read from a client so far: about the round trips of all clients.
func redisReads(ctx context.Context, url string) (float64, error) {
	client, err := redisClient(url)
	if err != nil {
		return 0, err
	}
	defer func() { _ = client.Close() }()
	n, err := infoOf(ctx, client, "stats", "total_reads_processed")
	return float64(n), err
}

// stat returns the fields of a process from its state on: state ppid ... utime(11) stime(12) cutime(13) cstime(14);
// nil if it is gone or there is no /proc.
func stat(pid string) []string {
	raw, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil
	}
	if f := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:])); len(f) > 14 {
		return f
	}
	return nil
}

// usage returns the CPU time used so far.
func (x *exchange) usage(ctx context.Context) usage { return x.known.usage(x.backends(ctx)) }

// usage returns the CPU time used so far; nil if there is no /proc. whose has the client of each Postgres backend.
func (k known) usage(whose map[int]string) usage {
	u := usage{}
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		f := stat(d.Name())
		if f == nil {
			continue
		}
		name := ""
		switch {
		case pid == os.Getpid():
			name = here
		case pid == k.api:
			name = "api"
		case pid == k.worker:
			name = "worker"
		case pid == k.scheduler:
			name = "scheduler"
		case pid == k.redis:
			name = "redis"
		case whose[pid] != "":
			name = "postgres for " + whose[pid]
		case pid == k.postmaster || f[1] == strconv.Itoa(k.postmaster):
			name = "postgres itself"
		default:
			continue
		}
		fields := f[11:13]
		if pid == k.postmaster {
			fields = f[11:15] // and its children that have ended, or sessions that a pool closed would be missed
		}
		for _, field := range fields {
			n, _ := strconv.ParseInt(field, 10, 64)
			u[name] += time.Duration(n) * tick
		}
	}
	return u
}

// backends returns the client of each Postgres backend, by process id. Pools keep their sessions, so few are missed.
func (x *exchange) backends(ctx context.Context) map[int]string {
	out := map[int]string{}
	rows, err := x.admin.Query(ctx,
		"SELECT pid, application_name FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> "+
			"pg_backend_pid()")
	if err != nil {
		return out
	}
	var pid int
	var name string
	_, _ = pgx.ForEachRow(rows, []any{&pid, &name}, func() error {
		out[pid] = name
		return nil
	})
	return out
}

func (u usage) minus(o usage) usage {
	out := usage{}
	for name, d := range u {
		out[name] = d - o[name]
	}
	return out
}

// Seconds returns the sum, without this process.
func (u usage) Seconds() (s float64) {
	for name, d := range u {
		if name != here {
			s += d.Seconds()
		}
	}
	return s
}

// of returns the usage per operation, of n.
func (u usage) of(n int) string {
	each := func(d time.Duration) string { return short(d / time.Duration(n)) }
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(u)) {
		if name != here && u[name] > 0 {
			parts = append(parts, name+" "+each(u[name]))
		}
	}
	return fmt.Sprintf("%s (%s; beside it %s %s)", each(time.Duration(u.Seconds()*float64(time.Second))),
		strings.Join(parts, ", "), here, each(u[here]))
}
