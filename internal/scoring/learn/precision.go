package learn

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// Gamma prior of a column's precision: weights of about `spread` in either direction, with the strength of `firm`
// observed weights.
const (
	spreadBase = 1.5 // for the intercept
	spread     = 0.6
	firm       = 5
	rounds     = 5 // of the fixed-point iteration, which has almost converged by then
)

// fitPrecisions updates w and the precisions together by MacKay's fixed point (Neural Computation 4, 1992): a column
// with weights near their prior gets more precision, an informative column gets less. With few outcomes both stay near
// their priors.
func (d *design) fitPrecisions(ctx context.Context, b *weightPrior, rows []int, w []float64, rounds int) error {
	for {
		chol, err := d.maximizePosterior(ctx, b, rows, w)
		if err != nil || rounds == 0 {
			return err
		}
		rounds--
		var cov mat.SymDense
		if err := chol.InverseTo(&cov); err != nil {
			return err
		}
		for k, c := range d.cols {
			trace := 0.0
			c.eachPrecision(func(i, j int, v float64) {
				x := v * cov.At(c.first+i, c.first+j)
				if i != j {
					x *= 2
				}
				trace += x
			})
			known := float64(len(c.levels)) - b.tau[k]*trace // number of weights determined by the data
			b.tau[k] = (max(known, 0) + firm) / (c.quadraticForm(w, b.mean) + firm*spread*spread)
		}
	}
}
