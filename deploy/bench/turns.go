package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"text/tabwriter"
	"time"
)

// contender is one of the things compared. Several goroutines call op concurrently, each with its number. A call does
// weight operations (1 if 0).
type contender struct {
	name   string
	op     func(ctx context.Context, worker int) error
	weight int
}

// slice is the result of one contender's turn.
type slice struct {
	perSecond float64
	p50, p99  time.Duration // duration of one call of op
}

// match runs contenders in turns: rounds of slices, each round in a random order. workers goroutines call op. The first
// round warms up and is discarded. The result has one list per contender, with one slice per round.
func match(ctx context.Context, cs []contender, workers, rounds int, length time.Duration) ([][]slice, error) {
	out := make([][]slice, len(cs))
	for round := range rounds + 1 {
		for _, i := range rand.Perm(len(cs)) {
			s, err := turn(ctx, cs[i], workers, length)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", cs[i].name, err)
			}
			if round > 0 {
				out[i] = append(out[i], s)
			}
		}
	}
	return out, nil
}

// turn runs one slice. It stops at the first error, since a failed call is not an operation and is often the fastest.
func turn(ctx context.Context, c contender, workers int, length time.Duration) (slice, error) {
	weight := max(c.weight, 1)
	took := make([][]time.Duration, workers)
	errs := make([]error, workers)
	began := time.Now()
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for at := time.Now(); at.Sub(began) < length; {
				if errs[w] = c.op(ctx, w); errs[w] != nil {
					return
				}
				now := time.Now()
				took[w] = append(took[w], now.Sub(at))
				at = now
			}
		})
	}
	wait.Wait()
	whole := time.Since(began)
	all := slices.Concat(took...)
	if err := errors.Join(errs...); err != nil {
		return slice{}, err
	}
	slices.Sort(all)
	return slice{
		perSecond: float64(len(all)*weight) / whole.Seconds(), p50: quantile(all, .5),
		p99: quantile(all, .99),
	}, nil
}

// spread is a median with its quartiles.
type spread struct{ low, mid, high float64 }

func (s spread) String() string { return fmt.Sprintf("%.2f [%.2f-%.2f]", s.mid, s.low, s.high) }

func spreadOf(xs []float64) spread {
	xs = slices.Sorted(slices.Values(xs))
	return spread{quantile(xs, .25), quantile(xs, .5), quantile(xs, .75)}
}

// quantile returns the quantile of sorted values; the zero value if there are none.
func quantile[T any](sorted []T, q float64) (v T) {
	if len(sorted) > 0 {
		v = sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
	}
	return v
}

func each[S, T any](ss []S, f func(S) T) []T {
	out := make([]T, len(ss))
	for i, s := range ss {
		out[i] = f(s)
	}
	return out
}

// ratios returns ours divided by the floor's, per round.
func ratios(ours, floor []slice) []float64 {
	out := make([]float64, len(ours))
	for i := range ours {
		out[i] = ours[i].perSecond / floor[i].perSecond
	}
	return out
}

func perSecond(ss []slice) spread {
	return spreadOf(each(ss, func(s slice) float64 { return s.perSecond }))
}

// table prints contenders, the floor first, with each one's ratio to it, and returns the spreads of the ratios.
func table(w io.Writer, title string, cs []contender, results [][]slice) []spread {
	fmt.Fprintln(w, "\n"+title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tper second (median)\tquartiles\tp50\tp99\tratio to the first [quartiles]")
	out := make([]spread, len(cs))
	for i, c := range cs {
		rate := perSecond(results[i])
		out[i] = spreadOf(ratios(results[i], results[0]))
		fmt.Fprintf(t, "%s\t%.0f\t%.0f-%.0f\t%s\t%s\t%s\n", c.name, rate.mid, rate.low, rate.high,
			short(middle(results[i], func(s slice) time.Duration {
				return s.p50
			})), short(middle(results[i], func(s slice) time.Duration { return s.p99 })), out[i])
	}
	_ = t.Flush()
	return out
}

func middle(ss []slice, f func(slice) time.Duration) time.Duration {
	return quantile(slices.Sorted(slices.Values(each(ss, f))), .5)
}

func short(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + short(-d)
	case d < time.Microsecond:
		return d.String()
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f us", float64(d.Nanoseconds())/1e3)
	default:
		return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1e3)
	}
}

// verdict prints a claim beside the measured value, and whether it holds in this run.
func verdict(w io.Writer, claim string, holds bool, measured string) {
	word := "holds"
	if !holds {
		word = "DOES NOT HOLD"
	}
	fmt.Fprintf(w, "claim: %s; measured %s: %s\n", claim, measured, word)
}
