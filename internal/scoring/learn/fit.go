package learn

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// design is the design matrix of the examples: the indexes of the weights that each example has.
type design struct {
	cols  []*column
	size  int // number of weights, including the intercept
	on    []int32
	start []int32 // start of each example in on, plus the end
	won   []bool
}

func newDesign(cols []*column, ex []Example) *design {
	d := &design{cols: cols, size: 1, start: make([]int32, 1, len(ex)+1), won: make([]bool, len(ex))}
	for _, c := range cols {
		c.first = d.size
		d.size += len(c.levels)
	}
	for i := range ex {
		eachActive(cols, &ex[i].Contact, func(at int) { d.on = append(d.on, int32(at)) })
		d.start = append(d.start, int32(len(d.on)))
		d.won[i] = ex[i].Won
	}
	return d
}

func (d *design) row(i int) []int32 { return d.on[d.start[i]:d.start[i+1]] }

func (d *design) logOdds(w []float64, i int) float64 {
	z := w[0]
	for _, at := range d.row(i) {
		z += w[at]
	}
	return z
}

// weightPrior is the Gaussian prior: a mean for each weight, and for each column a precision that scales the column's
// structure matrix.
type weightPrior struct {
	mean      []float64
	intercept float64   // precision of the intercept
	tau       []float64 // precision by column
}

// eachPrecision calls f with each entry (i, j, value), i <= j, of the column's precision at tau 1. i and j are indexes
// within the column.
func (c *column) eachPrecision(f func(i, j int, v float64)) {
	for i := range c.levels {
		if i >= c.ordered {
			f(i, i, 1)
			continue
		}
		for j := i; j < c.ordered; j++ {
			f(i, j, c.tied.At(i, j))
		}
	}
}

// quadraticForm returns (w-mean)' S (w-mean) for the column.
func (c *column) quadraticForm(w, mean []float64) (q float64) {
	c.eachPrecision(func(i, j int, v float64) {
		x := (w[c.first+i] - mean[c.first+i]) * (w[c.first+j] - mean[c.first+j]) * v
		if i != j {
			x *= 2
		}
		q += x
	})
	return q
}

var errSingular = errors.New("the weights are not identifiable")

// maximizePosterior moves w to the maximum of the posterior under b and the rows, by Newton's method. It returns the
// Cholesky factor of the precision of w.
func (d *design) maximizePosterior(ctx context.Context, b *weightPrior, rows []int, w []float64) (*mat.Cholesky,
	error,
) {
	n := d.size
	h := mat.NewSymDense(n, nil)
	grad := make([]float64, n)
	step := mat.NewVecDense(n, nil)

	var chol mat.Cholesky
	before := d.logPosterior(b, rows, w)
	for range 40 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.storeGradient(b, rows, w, h, grad)
		if !chol.Factorize(h) {
			return nil, errSingular
		}
		if err := chol.SolveVecTo(step, mat.NewVecDense(n, grad)); err != nil {
			return nil, errors.Join(errSingular, err)
		}
		gain := mat.Dot(step, mat.NewVecDense(n, grad))
		if gain < 1e-8 {
			return &chol, nil
		}
		trial := make([]float64, n)
		size := 1.0
		for {
			for i := range trial {
				trial[i] = w[i] + size*step.AtVec(i)
			}
			if now := d.logPosterior(b, rows, trial); now >= before || size < 1e-6 {
				before = now
				break
			}
			size /= 2
		}
		copy(w, trial)
	}

	return &chol, nil
}

// logPosterior returns the log posterior, up to a constant.
func (d *design) logPosterior(b *weightPrior, rows []int, w []float64) float64 {
	v := -b.intercept * (w[0] - b.mean[0]) * (w[0] - b.mean[0]) / 2
	for i, c := range d.cols {
		v -= b.tau[i] * c.quadraticForm(w, b.mean) / 2
	}
	for _, i := range rows {
		z := d.logOdds(w, i)
		if d.won[i] {
			z = -z
		}
		v -= softplus(z)
	}
	return v
}

func softplus(z float64) float64 {
	if z > 35 {
		return z
	}
	return math.Log1p(math.Exp(z))
}

// storeGradient stores the precision at w in h and the gradient of the objective in grad.
func (d *design) storeGradient(b *weightPrior, rows []int, w []float64, h *mat.SymDense, grad []float64) {
	h.Zero()
	clear(grad)
	raw := h.RawSymmetric()
	add := func(i, j int, v float64) {
		if i > j {
			i, j = j, i
		}
		raw.Data[i*raw.Stride+j] += v
	}
	add(0, 0, b.intercept)
	grad[0] -= b.intercept * (w[0] - b.mean[0])
	for k, c := range d.cols {
		c.eachPrecision(func(i, j int, v float64) {
			i, j, v = i+c.first, j+c.first, v*b.tau[k]
			add(i, j, v)
			grad[i] -= v * (w[j] - b.mean[j])
			if i != j {
				grad[j] -= v * (w[i] - b.mean[i])
			}
		})
	}

	for _, i := range rows {
		p := logistic(d.logOdds(w, i))
		miss := -p
		weight := p * (1 - p)
		if d.won[i] {
			miss = 1 - p
		}
		row := d.row(i)
		add(0, 0, weight)
		grad[0] += miss
		for a, x := range row {
			grad[x] += miss
			add(0, int(x), weight)
			add(int(x), int(x), weight)
			for _, y := range row[a+1:] {
				if x == y { // two tags that differ in case, or are pooled
					add(int(x), int(x), 2*weight)
				} else {
					add(int(x), int(y), weight)
				}
			}
		}
	}
}
