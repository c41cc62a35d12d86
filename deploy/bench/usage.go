package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// usage is processor time by process: that of the worker, and of the servers with all their children.
type usage map[string]time.Duration

// tick is the unit of /proc: 1/100 s on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// known are the processes whose usage is read: the worker, Redis, and the parent of all of Postgres's.
type known struct{ worker, redis, postmaster int }

// know finds them by asking.
func (x *exchange) know(ctx context.Context) error {
	x.known.worker = x.worker.cmd.Process.Pid
	var backend int
	if err := x.admin.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return err
	}
	if f := stat(strconv.Itoa(backend)); f != nil {
		x.known.postmaster, _ = strconv.Atoi(f[1])
	}
	client, err := redisClient(x.redis.URL)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return err
	}
	_, after, _ := strings.Cut(info, "process_id:")
	line, _, _ := strings.Cut(after, "\r")
	x.known.redis, err = strconv.Atoi(line)
	return err
}

// stat answers the fields of a process from its state on: state ppid ... utime(11) stime(12); nil where it is gone, or
// where there is no /proc.
func stat(pid string) []string {
	raw, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil
	}
	if f := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:])); len(f) > 12 {
		return f
	}
	return nil
}

// usage is what they have used so far; zeros where there is no /proc.
func (x *exchange) usage() usage {
	u := usage{"worker": 0, "postgres": 0, "redis": 0}
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
		case pid == x.known.worker:
			name = "worker"
		case pid == x.known.redis:
			name = "redis"
		case pid == x.known.postmaster || f[1] == strconv.Itoa(x.known.postmaster):
			name = "postgres"
		default:
			continue
		}
		for _, field := range f[11:13] {
			n, _ := strconv.ParseInt(field, 10, 64)
			u[name] += time.Duration(n) * tick
		}
	}
	return u
}

func (u usage) minus(o usage) usage {
	out := usage{}
	for name, d := range u {
		out[name] = d - o[name]
	}
	return out
}

// Seconds is the sum.
func (u usage) Seconds() (s float64) {
	for _, d := range u {
		s += d.Seconds()
	}
	return s
}

// of is the usage for each of n.
func (u usage) of(n int) string {
	each := func(d time.Duration) string { return short(d / time.Duration(n)) }
	return fmt.Sprintf("%s (worker %s, postgres %s, redis %s)", each(time.Duration(u.Seconds()*float64(time.Second))), each(u["worker"]), each(u["postgres"]), each(u["redis"]))
}
