package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/learn"
)

// outcomesOf returns n settled deals. Of their contacts' fields half are words with that many levels and half are
// numbers, each with its own effect on the outcome.
func outcomesOf(n, fields, levels int) []learn.Example {
	r := rand.New(rand.NewPCG(5, 7))
	names, words, bearing := make([]string, fields), make([]string, levels), make([][]float64, fields)
	for f := range names {
		names[f] = fmt.Sprintf("field_%02d", f)
		bearing[f] = make([]float64, levels)
		for l := range bearing[f] {
			bearing[f][l] = 0.5 * r.NormFloat64()
		}
	}
	for l := range words {
		words[l] = fmt.Sprintf("Level %d", l)
	}
	out := make([]learn.Example, n)
	for i := range out {
		values, z := make(map[string]any, fields), -0.5
		for f, name := range names {
			level := r.IntN(levels)
			z += bearing[f][level]
			if f%2 == 0 {
				values[name] = words[level]
			} else {
				values[name] = float64(level) + r.Float64()
			}
		}
		out[i] = learn.Example{
			Contact: scoring.Contact{
				Stage: []string{"lead", "mql", "customer"}[i%3], Email: "a@acme.example",
				Source: []string{"", "website", "fair"}[i/3%3], Values: values,
			},
			At: time.Unix(int64(i), 0), Won: r.Float64() < 1/(1+math.Exp(-z)),
		}
	}
	return out
}

// learning measures a training as the nightly job does it, all examples at once. The floor is one pass over the
// examples with the learned model.
func learning(ctx context.Context, _ *slog.Logger) error {
	const outcomes, fields, levels = 100_000, 26, 16
	ex := outcomesOf(outcomes, fields, levels)
	var took []float64
	for range 3 {
		began := time.Now()
		m, r, err := learn.Train(ctx, "v1", ex, scoring.Shipped(), learn.Incumbent{Model: scoring.Shipped()})
		if err != nil {
			return err
		}
		took = append(took, time.Since(began).Seconds())
		began = time.Now()
		for i := range ex {
			m.Score(&ex[i].Contact)
		}
		walk := time.Since(began)
		weights := len(r.Weights)
		fmt.Printf("%d outcomes, %d weights: learned in %.1f s, %.0f walks over the examples with what was learned "+
			"(%s); AUC %.4f\n",
			outcomes, weights, took[len(took)-1], took[len(took)-1]/walk.Seconds(), short(walk), r.Metrics.AUC)
		if weights < 300 {
			return fmt.Errorf("%d weights are too few", weights)
		}
	}
	s := spreadOf(took)
	verdict(os.Stdout, "training on 100,000 outcomes with 300 weights takes at most 30 s", s.mid <= 30, s.String()+" s")
	return nil
}
