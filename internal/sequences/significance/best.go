package significance

import (
	"math"
	"slices"
	"time"
)

// Thresholds of Comparable and Winner.
const (
	MinTrials = 200 // of each arm
	MinAge    = 24 * time.Hour
	Sure      = 0.95 // probability from which on a difference is shown
)

// points is the number of points at which the densities are computed; spread the width of the range in standard
// deviations on either side.
const (
	points = 4001
	spread = 10
)

// Best returns the probability of each arm that its share is the highest of all. The probabilities add up to 1.
func Best(arms []Arm) []float64 {
	out := make([]float64, len(arms))
	if len(arms) == 0 {
		return out
	}

	low, high := pointRange(arms)
	step := (high - low) / (points - 1)
	densities := make([][]float64, len(arms))
	sums := make([][]float64, len(arms))
	for i, a := range arms {
		densities[i] = a.posteriorDensity(low, step)
		sums[i] = cumulateDensity(densities[i])
	}

	total := 0.0
	for i := range arms {
		for p := range points {
			weight := densities[i][p]
			for j := range arms {
				if j != i {
					weight *= sums[j][p]
				}
			}
			out[i] += weight
		}
		total += out[i]
	}

	for i := range out {
		out[i] /= total
	}

	return out
}

// betaParameters returns the parameters of the posterior distribution.
func (a Arm) betaParameters() (alpha, beta float64) {
	return 1 + float64(a.Successes), 1 + float64(a.Trials-a.Successes)
}

// pointRange returns a range that has all but a negligible part of every distribution.
func pointRange(arms []Arm) (low, high float64) {
	low = 1
	high = 0
	for _, a := range arms {
		alpha, beta := a.betaParameters()
		sum := alpha + beta
		mean := alpha / sum
		deviation := math.Sqrt(alpha * beta / (sum * sum * (sum + 1)))
		low, high = min(low, mean-spread*deviation), max(high, mean+spread*deviation)
	}
	return max(low, 0), min(high, 1)
}

// posteriorDensity returns the density of the posterior at the points, scaled to a sum of 1.
func (a Arm) posteriorDensity(low, step float64) []float64 {
	alpha, beta := a.betaParameters()
	logs := make([]float64, points)
	top := math.Inf(-1)
	for p := range logs {
		// The points are the middles of intervals, so that neither logarithm is of 0.
		x := min(max(low+(float64(p)+0.5)*step, 1e-12), 1-1e-12)
		logs[p] = (alpha-1)*math.Log(x) + (beta-1)*math.Log1p(-x)
		top = max(top, logs[p])
	}

	total := 0.0
	for p := range logs {
		logs[p] = math.Exp(logs[p] - top)
		total += logs[p]
	}

	for p := range logs {
		logs[p] /= total
	}

	return logs
}

// cumulateDensity returns the distribution function at the points: all before, and half of the point itself.
func cumulateDensity(density []float64) []float64 {
	out := make([]float64, len(density))
	sum := 0.0
	for p, d := range density {
		out[p] = sum + d/2
		sum += d
	}
	return out
}

// Comparable reports whether the arms can be compared: there are enough of them, and each has enough trials. age is the
// time since the youngest arm began; a part of a day may not be like the others.
func Comparable(arms []Arm, age time.Duration) bool {
	if len(arms) < 2 || age < MinAge {
		return false
	}
	return !slices.ContainsFunc(arms, func(a Arm) bool { return a.Trials < MinTrials })
}

// Winner returns the arm that is the best one with a probability of at least Sure. ok is false if no difference is
// shown, or if the arms cannot be compared.
func Winner(arms []Arm, age time.Duration) (best int, ok bool) {
	if !Comparable(arms, age) {
		return 0, false
	}
	for i, p := range Best(arms) {
		if p >= Sure {
			return i, true
		}
	}
	return 0, false
}
