package worker_test

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/worker"
)

// lines collects the log lines with one message.
type lines struct {
	slog.Handler
	message string
	mu      sync.Mutex
	jobs    []int64
}

func (l *lines) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == l.message {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "jobs" {
				l.mu.Lock()
				l.jobs = append(l.jobs, a.Value.Int64())
				l.mu.Unlock()
			}
			return true
		})
	}
	return l.Handler.Handle(ctx, r)
}

func (l *lines) all() []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.jobs)
}

func TestClaimsThatFailAreCountedAndLoggedOnceASecond(t *testing.T) {
	t.Parallel()
	h := open(t)
	logged := &lines{Handler: h.log.Handler(), message: "jobs not claimed"}
	h.log = slog.New(logged)
	const jobs = 200
	h.add(slices.Repeat([]func(context.Context, *postgres.Tx) error{adding(mark, none{})}, jobs)...)
	waiting := h.jobs()
	h.exec("ALTER TABLE job RENAME TO job_away") // so that every claim fails
	reg := prometheus.NewRegistry()
	began := time.Now()
	_, stop := h.worker(worker.Options{Concurrency: 8, Metrics: worker.NewMetrics(reg)}, mark.HandleTx(markWork))
	for _, j := range waiting {
		h.push(j.ref())
	}
	failed := func() int {
		return int(labelled(t, reg, "funnelwork_jobs_claims_total",
			map[string]string{"lane": string(queue.Default), "result": "failed"}))
	}
	h.until(most, "every claim failed", func() bool { return failed() >= jobs })
	h.exec("ALTER TABLE job_away RENAME TO job")
	h.until(most, "every job is done", func() bool { return len(h.jobs()) == 0 })
	stop()
	got := logged.all()
	if seconds := int(time.Since(began) / time.Second); len(got) == 0 || len(got) > seconds+1 {
		t.Errorf("%d lines within %d s", len(got), seconds)
	}
	var sum int64
	for _, n := range got {
		sum += n
	}
	if sum > int64(failed()) {
		t.Errorf("the lines count %d claims of %d", sum, failed())
	}
	done := labelled(t, reg, "funnelwork_jobs_claims_total",
		map[string]string{"lane": string(queue.Default), "result": "claimed"})
	if done != jobs {
		t.Errorf("%v claims are counted; want %d", done, jobs)
	}
}

// labelled returns the value of the one series with these labels.
func labelled(t testing.TB, reg prometheus.Gatherer, name string, labels map[string]string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			had := map[string]string{}
			for _, l := range m.GetLabel() {
				had[l.GetName()] = l.GetValue()
			}
			if maps.Equal(had, labels) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return 0
}
