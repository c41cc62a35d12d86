package significance

import "math"

// Arm is what was counted of one variant.
type Arm struct{ Trials, Successes int }

// z is the 97.5 % quantile of the normal distribution: intervals cover 95 %.
const z = 1.959963984540054

// Rate returns the share of successes; 0 without trials.
func (a Arm) Rate() float64 {
	if a.Trials == 0 {
		return 0
	}
	return float64(a.Successes) / float64(a.Trials)
}

// Interval returns the 95 % interval of Wilson for the share of successes; 0 and 1 without trials.
func (a Arm) Interval() (low, high float64) {
	if a.Trials == 0 {
		return 0, 1
	}
	n := float64(a.Trials)
	p := a.Rate()
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	scale := 1 + z*z/n
	return max(0, (middle-half)/scale), min(1, (middle+half)/scale)
}
