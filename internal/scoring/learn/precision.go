package learn

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// What is believed of a column's precision before any outcome, as a gamma distribution: weights of about `spread` either
// way, held as firmly as `firm` weights seen.
const (
	spreadBase = 1.5 // of the intercept
	spread     = 0.8
	firm       = 1.5
	rounds     = 5 // of the fixed point; its steps are small by then
)

// settle moves w and the precisions together by MacKay's fixed point (Neural Computation 4, 1992): a column whose weights stay
// near their prior gets more precision, one that tells gets less. Few outcomes leave both as they were believed.
func (d *design) settle(ctx context.Context, b *belief, rows []int, w []float64, rounds int) error {
	for {
		chol, err := d.posterior(ctx, b, rows, w)
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
			c.structure(func(i, j int, v float64) {
				x := v * cov.At(c.first+i, c.first+j)
				if i != j {
					x *= 2
				}
				trace += x
			})
			known := float64(len(c.levels)) - b.tau[k]*trace // how many weights the data have determined
			b.tau[k] = (max(known, 0) + firm) / (c.quadratic(w, b.mean) + firm*spread*spread)
		}
	}
}
