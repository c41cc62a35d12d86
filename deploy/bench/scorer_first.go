package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/learn"
)

// firstDraws is the number of sampled orgs with their first outcomes.
const firstDraws = 20

// firstOutcomes learns from 30 and from 60 outcomes of many draws, in the process, and prints how many of the active
// models meet the bar; that is the shipped model if the new one was not promoted. All are evaluated on the same 1,500
// leads.
func firstOutcomes(ctx context.Context, all []lead) error {
	r := rand.New(rand.NewPCG(30, 60))
	order := r.Perm(len(all))
	held, pool := make([]lead, 0, 1500), make([]lead, 0, len(all))
	for i, j := range order {
		if i < 1500 {
			held = append(held, all[j])
		} else {
			pool = append(pool, all[j])
		}
	}
	unseen := examplesOf(held)
	prior := measured(scoring.Prior(), unseen)
	fmt.Printf("the first outcomes, %d draws; the shipped model has AUC %.4f, log loss %.4f\n", firstDraws, prior.AUC,
		prior.LogLoss)
	for _, step := range []struct {
		n   int
		bar float64
	}{{30, 0.66}, {60, 0.75}} {
		met, promoted, worse := 0, 0, 0
		var aucs []float64
		for range firstDraws {
			seen := make([]lead, step.n)
			for i, j := range r.Perm(len(pool))[:step.n] {
				seen[i] = pool[j]
			}
			got, noise := prior, 0.0
			m, report, err := learn.Train(ctx, "first", examplesOf(seen), scoring.Prior(),
				learn.Incumbent{Model: scoring.Prior()})
			switch {
			case errors.Is(err, learn.ErrTooFew):
			case err != nil:
				return err
			case report.Comparison.Won():
				promoted++
				got, noise = measured(m, unseen), report.Comparison.Noise
			}
			if got.AUC >= step.bar {
				met++
			}
			if got.LogLoss > prior.LogLoss+noise {
				worse++
			}
			aucs = append(aucs, got.AUC)
		}
		slices.Sort(aucs)
		fmt.Printf("  %5d outcomes: %d promoted, AUC median %.4f\n", step.n, promoted, aucs[len(aucs)/2])
		verdictOf(fmt.Sprintf("draws with AUC >= %.2f", step.bar), float64(met), firstDraws*0.9, true)
		verdictOf("draws whose log loss is above the shipped model's by more than noise", float64(worse), 0, false)
	}
	return nil
}

func measured(m *scoring.Model, ex []learn.Example) learn.Metrics {
	p, won := make([]float64, len(ex)), make([]bool, len(ex))
	for i := range ex {
		p[i], won[i] = m.Score(&ex[i].Contact).Probability, ex[i].Won
	}
	return learn.Measure(p, won)
}
