package learn

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	// perBin is the minimum number of values per bin of a number. Bins are small because adjacent bins are tied: small
	// bins cost nothing if the data are smooth, and large bins would hide the effect of a number's size.
	perBin = 3
	// smooth is the share of the bins' precision that ties adjacent bins to each other. The rest ties each bin to its
	// mean.
	smooth = 0.9
	// outlying clips a value's contribution to a bin's position, in standard deviations.
	outlying = 2
)

// orderedPrecision returns the precision at tau 1 of the weights of a number's bins. Their prior is the sum of a line
// through the bins' positions, with slope 1 per standard deviation, and a curve that changes little between adjacent
// bins.
func orderedPrecision(sorted, edges []float64) *mat.SymDense {
	n := len(edges) + 1
	curve := mat.NewSymDense(n, nil)
	for i := range n {
		v := 1 - smooth
		if i > 0 {
			v += 4 * smooth
		}
		if i < n-1 {
			v += 4 * smooth
			curve.SetSym(i, i+1, -4*smooth)
		}
		curve.SetSym(i, i, v)
	}
	// The covariances add up. The covariance of the line has rank one, so the Sherman-Morrison formula gives the
	// inverse.
	at := mat.NewVecDense(n, binPositions(sorted, edges))
	var pull mat.VecDense
	pull.MulVec(curve, at)
	curve.SymRankOne(curve, -1/(1+mat.Dot(at, &pull)), &pull)
	return curve
}

// binPositions returns the mean of the values in each bin, in standard deviations from the overall mean, clipped at
// outlying.
func binPositions(sorted, edges []float64) []float64 {
	out := make([]float64, len(edges)+1)
	if len(sorted) == 0 {
		return out
	}

	unit := max(math.Abs(sorted[0]), math.Abs(sorted[len(sorted)-1]), math.SmallestNonzeroFloat64)
	mean := meanOf(sorted, unit)
	variance := 0.0
	for _, x := range sorted {
		variance += (x/unit - mean) * (x/unit - mean) / float64(len(sorted))
	}

	if variance == 0 {
		return out
	}

	for i := range out {
		to := len(sorted)
		if i < len(edges) {
			to, _ = slices.BinarySearch(sorted, edges[i])
		}
		if to > 0 {
			out[i] = min(max((meanOf(sorted[:to], unit)-mean)/math.Sqrt(variance), -outlying), outlying)
		}
		sorted = sorted[to:]
	}

	return out
}

// meanOf returns the mean of all, in units.
func meanOf(all []float64, unit float64) (mean float64) {
	for _, x := range all {
		mean += x / unit / float64(len(all))
	}
	return mean
}
