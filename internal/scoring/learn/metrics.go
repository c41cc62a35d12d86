package learn

import (
	"cmp"
	"math"
	"slices"
)

// Metrics measure how well probabilities fit outcomes that the model had not seen.
type Metrics struct {
	AUC     float64 `json:"auc"`      // the chance that a won outcome ranks above one that was not won
	LogLoss float64 `json:"log_loss"` // nats
	Brier   float64 `json:"brier"`
	ECE     float64 `json:"ece"` // mean distance of predicted from observed rate, over ten bins of equal count
	Count   int     `json:"count"`
	Won     int     `json:"won"`
}

// CalibrationBin is one row of a reliability table.
type CalibrationBin struct {
	From  float64 `json:"from"` // the lowest probability in the bin
	To    float64 `json:"to"`   // the highest probability in the bin
	Count int     `json:"count" doc:"Outcomes whose predicted probability lies in the bin"`
	Said  float64 `json:"said" doc:"Mean predicted probability of these outcomes"` // mean predicted probability
	Seen  float64 `json:"seen" doc:"Share of these outcomes that were won"`        // observed share of won outcomes
}

// Descriptions implements wire.Describer.
func (CalibrationBin) Descriptions() map[string]string {
	return map[string]string{
		"from": "Lowest predicted probability of the bin, 0 to 1",
		"to":   "Highest predicted probability of the bin, 0 to 1",
	}
}

// Measure compares probabilities with outcomes.
func Measure(p []float64, won []bool) Metrics {
	m := Metrics{Count: len(p), AUC: AUC(p, won)}
	for i, x := range p {
		y := 0.0
		if won[i] {
			y = 1
			m.Won++
		}
		q := min(max(x, 1e-12), 1-1e-12)
		m.LogLoss -= y*math.Log(q) + (1-y)*math.Log(1-q)
		m.Brier += (x - y) * (x - y)
	}

	if len(p) == 0 {
		return m
	}

	m.LogLoss /= float64(len(p))
	m.Brier /= float64(len(p))
	for _, b := range Reliability(p, won, 10) {
		m.ECE += math.Abs(b.Said-b.Seen) * float64(b.Count) / float64(len(p))
	}

	return m
}

func sortedIndexes(p []float64) []int {
	at := make([]int, len(p))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return at
}

// AUC returns the area under the ROC curve. Ties count half. It is 0.5 if all outcomes are the same.
func AUC(p []float64, won []bool) float64 {
	at := sortedIndexes(p)
	var ranks float64
	var n, lost int
	for i := 0; i < len(at); {
		j := i
		for j < len(at) && p[at[j]] == p[at[i]] {
			j++
		}
		for k := i; k < j; k++ {
			if won[at[k]] {
				ranks += float64(i+j+1) / 2
				n++
			} else {
				lost++
			}
		}
		i = j
	}

	if n == 0 || lost == 0 {
		return 0.5
	}

	return (ranks - float64(n)*float64(n+1)/2) / (float64(n) * float64(lost))
}

// Reliability sorts the outcomes by probability and divides them into bins of about equal count.
func Reliability(p []float64, won []bool, bins int) []CalibrationBin {
	at := sortedIndexes(p)
	var out []CalibrationBin
	for b := range bins {
		from := len(at) * b / bins
		to := len(at) * (b + 1) / bins
		if from == to {
			continue
		}
		x := CalibrationBin{From: p[at[from]], To: p[at[to-1]], Count: to - from}
		for _, i := range at[from:to] {
			x.Said += p[i] / float64(x.Count)
			if won[i] {
				x.Seen += 1 / float64(x.Count)
			}
		}
		out = append(out, x)
	}

	return out
}
