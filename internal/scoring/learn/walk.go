package learn

import (
	"context"
	"errors"
	"math"
	"slices"
)

// predictions holds a model's predictions of outcomes that it was not trained on.
type predictions struct {
	z   []float64 // log odds
	won []bool
}

// blocks is the number of parts in which the later half of the outcomes is predicted.
const blocks = 5

// walkForward trains on the first half and predicts the next tenth, then trains on the first six tenths, and so on to
// the end.
func (f *fitted) walkForward(ctx context.Context) (predictions, error) {
	n := len(f.d.won)
	var parts [][2][]int
	for b := range blocks {
		from := n * (blocks + b) / (2 * blocks)
		to := n * (blocks + b + 1) / (2 * blocks)
		parts = append(parts, [2][]int{rowRange(0, from), rowRange(from, to)})
	}
	return f.predictParts(ctx, parts)
}

// folds is the number of cross-validation folds.
const folds = 5

// crossValidate predicts each fold from the others. The calibration is fitted to these predictions and not to those of
// walk, because the models of walk have seen about half as many outcomes as the final model and are therefore less
// confident.
func (f *fitted) crossValidate(ctx context.Context) (predictions, error) {
	parts := make([][2][]int, folds)
	for i := range f.d.won {
		for k := range folds {
			side := 0
			if i%folds == k {
				side = 1
			}
			parts[k][side] = append(parts[k][side], i)
		}
	}
	return f.predictParts(ctx, parts)
}

// predictParts trains on the first rows of each part and predicts the second rows. It starts from f's weights and
// precisions, because the optimum is unique, and the precisions are only one number per column.
func (f *fitted) predictParts(ctx context.Context, parts [][2][]int) (out predictions, err error) {
	for _, part := range parts {
		b := *f.b
		b.tau = slices.Clone(f.b.tau)
		w := slices.Clone(f.w)
		if err := f.d.fitPrecisions(ctx, &b, part[0], w, 1); err != nil {
			return out, err
		}
		for _, i := range part[1] {
			out.z, out.won = append(out.z, f.d.logOdds(w, i)), append(out.won, f.d.won[i])
		}
	}
	return out, nil
}

// tenths is the number of folds of rehearse.
const tenths = 10

// predictTenths predicts each tenth of the outcomes from all others. It trains each fold from scratch, including the
// precisions, because with few outcomes each one influences them.
func (f *fitted) predictTenths(ctx context.Context) ([]float64, error) {
	out := make([]float64, len(f.d.won))
	for k := range tenths {
		var rows []int
		for i := range out {
			if i%tenths != k {
				rows = append(rows, i)
			}
		}
		b := f.first
		b.tau = slices.Clone(f.first.tau)
		w := slices.Clone(b.mean)
		if err := f.d.fitPrecisions(ctx, &b, rows, w, rounds); err != nil {
			return nil, err
		}
		for i := k; i < len(out); i += tenths {
			out[i] = logistic(f.slope*f.d.logOdds(w, i) + f.shift)
		}
	}

	return out, nil
}

func rowRange(from, to int) []int {
	rows := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, i)
	}
	return rows
}

// Prior strength of slope 1 and shift 0, in units of the likelihood's curvature.
const (
	firmSlope = 40
	firmShift = 10
)

var errCalibration = errors.New("the calibration did not converge")

// fitPlatt fits a slope and a shift of the log odds to the outcomes (Platt 1999).
func (o *predictions) fitPlatt() (a, c float64, err error) {
	a = 1
	for range 50 {
		ga := -firmSlope * (a - 1)
		gc := -firmShift * c
		haa := float64(firmSlope)
		hac := 0.0
		hcc := float64(firmShift)
		for i, z := range o.z {
			p := logistic(a*z + c)
			miss := -p
			if o.won[i] {
				miss = 1 - p
			}
			ga, gc = ga+miss*z, gc+miss
			v := p * (1 - p)
			haa, hac, hcc = haa+v*z*z, hac+v*z, hcc+v
		}
		det := haa*hcc - hac*hac
		da := (hcc*ga - hac*gc) / det
		dc := (haa*gc - hac*ga) / det
		a, c = a+da, c+dc
		if math.Abs(da)+math.Abs(dc) < 1e-9 {
			return min(max(a, 0.25), 2), c, nil
		}
	}

	return 1, 0, errCalibration
}

// calibratedScores returns the calibrated probabilities.
func (o *predictions) calibratedScores(a, c float64) []float64 {
	p := make([]float64, len(o.z))
	for i, z := range o.z {
		p[i] = logistic(a*z + c)
	}
	return p
}

func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func logit(p float64) float64 {
	p = min(max(p, 1e-12), 1-1e-12)
	return math.Log(p / (1 - p))
}
