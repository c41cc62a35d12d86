package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/learn"
)

// score measures the shipped model on contacts that differ in every feature, and a model learned from outcomes of
// contacts with twelve custom fields. The floor is the score alone, so the ratio is the cost of the reasons.
func score(ctx context.Context, _ *slog.Logger) error {
	const batch = 2000
	model := scoring.Prior()
	examples := outcomesOf(batch, 12, 12)
	learned, _, err := learn.Train(ctx, "v1", examples, model, learn.Incumbent{Model: model})
	if err != nil {
		return err
	}
	crowd := contactsToScore()
	var sink float64
	cs := []contender{
		{name: "score alone", weight: batch, op: func(context.Context, int) error {
			for i := range batch {
				sink += model.Score(&crowd[i%len(crowd)]).Lead
			}
			return nil
		}},
		{name: "score with reasons", weight: batch, op: func(context.Context, int) error {
			var room [32]scoring.Reason
			for i := range batch {
				s, reasons := model.Explain(&crowd[i%len(crowd)], room[:0])
				sink += s.Lead + float64(len(reasons))
			}
			return nil
		}},
		{name: "a learned one's, with reasons", weight: batch, op: func(context.Context, int) error {
			var room [32]scoring.Reason
			for i := range batch {
				s, reasons := learned.Explain(&examples[i].Contact, room[:0])
				sink += s.Lead + float64(len(reasons))
			}
			return nil
		}},
	}
	results, err := match(ctx, cs, 1, 15, 100*time.Millisecond)
	if err != nil {
		return err
	}
	if sink == 0 {
		return errors.New("every score was 0")
	}
	table(os.Stdout,
		fmt.Sprintf("scores per second, one goroutine, %d contacts in turn (p50 and p99 are of %d)", len(crowd),
			batch), cs, results)
	for i, what := range []string{1: "a score with its reasons", 2: "a learned model's, with twelve custom fields,"} {
		if what == "" {
			continue
		}
		each := spreadOf(eachNanos(results[i]))
		verdict(os.Stdout, what+" takes at most 2 us", each.mid <= 2000,
			fmt.Sprintf("%.0f ns [%.0f-%.0f]", each.mid, each.low, each.high))
	}
	return nil
}

func eachNanos(ss []slice) []float64 {
	return each(ss, func(s slice) float64 { return 1e9 / s.perSecond })
}

// contactsToScore returns all combinations of a few values of each feature.
func contactsToScore() (out []scoring.Contact) {
	for _, stage := range []string{"", "lead", "mql", "customer", "our own word"} {
		for _, email := range []string{"ada@acme.example", "bo@gmail.com", "c.d@mailinator.com"} {
			for _, title := range []string{"", "Chief Executive Officer", "Senior Marketing Manager", "Intern"} {
				for _, source := range []string{"", "referral", "import"} {
					for n := range 4 {
						out = append(out, scoring.Contact{
							Stage: stage, Email: email, JobTitle: title, Source: source,
							Tags:    []string{"vip", "webinar", "trial"}[:n],
							Company: n%2 == 0, Phone: n > 1, Owner: n == 3,
							Values: []map[string]any{
								nil,
								{"a": true, "b": true},
								{"a": true, "b": true, "c": true, "d": true},
								{"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 1.0, "f": 1.0},
							}[n],
						})
					}
				}
			}
		}
	}
	return out
}
