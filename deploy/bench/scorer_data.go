package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/learn"
)

// lead is one row of the data: what was known on arrival, and the outcome.
type lead struct {
	number int
	key    string // unique
	values map[string]any
	won    bool
	at     time.Time
}

// leads reads a file with the columns `Prospect ID`, `Lead Number` and `Converted`. Every other column becomes a custom
// field. The leads are sorted by number, the order of their arrival.
func leads(path string) ([]lead, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(rows) < 100 {
		return nil, fmt.Errorf("%s has %d rows", path, len(rows))
	}
	out := make([]lead, 0, len(rows)-1)
	for _, row := range rows[1:] {
		l := lead{values: map[string]any{}}
		for i, column := range rows[0] {
			switch column {
			case "Prospect ID":
				l.key = row[i]
			case "Lead Number":
				if l.number, err = strconv.Atoi(row[i]); err != nil {
					return nil, fmt.Errorf("lead number: %w", err)
				}
			case "Converted":
				l.won = row[i] == "1"
			default:
				if row[i] == "" {
					continue
				}
				if x, err := strconv.ParseFloat(row[i], 64); err == nil {
					l.values[column] = x
				} else {
					l.values[column] = row[i]
				}
			}
		}
		l.at = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(l.number) * time.Minute)
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b lead) int { return cmp.Compare(a.number, b.number) })
	first := out[0].at
	for i := range out { // spread over some months in the past
		out[i].at = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(out[i].at.Sub(first))
	}
	return out, nil
}

// zeroMean returns the model that the peers begin with: an uninformative prior.
func zeroMean() *scoring.Model {
	return &scoring.Model{
		Version: "zero", Confidence: scoring.FromPrior,
		Weights: map[scoring.Feature]map[string]float64{},
	}
}

func examplesOf(all []lead) []learn.Example {
	out := make([]learn.Example, len(all))
	for i, l := range all {
		out[i] = learn.Example{
			At: l.at, Won: l.won,
			Contact: scoring.Contact{Stage: "lead", Email: l.key + "@leads.example", Values: l.values},
		}
	}
	return out
}

// outcomes returns the outcomes of the leads.
func outcomes(all []lead) []bool {
	out := make([]bool, len(all))
	for i := range all {
		out[i] = all[i].won
	}
	return out
}
