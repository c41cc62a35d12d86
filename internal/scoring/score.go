package scoring

import "math"

// Score is a model's score of a contact.
type Score struct {
	Lead        float64 // 100 x Probability, rounded to hundredths
	Probability float64 // not rounded
	Confidence  Confidence
	Version     string
}

// Reason is one part of a score. All parts, including the base, add up to Score.Lead in hundredths.
type Reason struct {
	Feature Feature
	Value   string // the level: the contact's own value, or "present", "absent", "business", "5+"
	Points  float64
}

// Score returns the probability that c becomes a customer. It does not allocate.
func (m *Model) Score(c *Contact) Score {
	var room [most]term
	z := m.Intercept
	for _, t := range m.contactTerms(c, &room) {
		z += t.weight
	}
	p := logistic(z)
	return Score{Lead: float64(hundredths(p)) / 100, Probability: p, Confidence: m.Confidence, Version: m.Version}
}

// Explain returns the score and appends its reasons to into: the base first, then the features by descending absolute
// points. It does not allocate if into has enough capacity.
func (m *Model) Explain(c *Contact, into []Reason) (Score, []Reason) {
	var room [most]term
	terms := m.contactTerms(c, &room)
	z := m.Intercept
	for _, t := range terms {
		z += t.weight
	}

	p := logistic(z)
	p0 := logistic(m.Intercept)
	whole := hundredths(p)
	base := hundredths(p0)

	var parts [most]int
	distributeParts(terms, chordSlope(m.Intercept, p0, z, p), whole-base, parts[:len(terms)])

	into = append(into, Reason{Feature: Base, Points: float64(base) / 100})
	var order [most]uint64
	for _, i := range sortFalling(parts[:len(terms)], &order) {
		t := &terms[i]
		into = append(into, Reason{Feature: t.feature, Value: t.level, Points: float64(parts[i]) / 100})
	}

	return Score{Lead: float64(whole) / 100, Probability: p, Confidence: m.Confidence, Version: m.Version}, into
}

// chordSlope returns the slope of the chord of the logistic curve between the base and the contact, in hundredths of a
// point.
func chordSlope(z0, p0, z, p float64) float64 {
	if math.Abs(z-z0) < 1e-6 {
		return 10000 * p0 * (1 - p0) // the limit is the tangent
	}
	return 10000 * (p - p0) / (z - z0)
}

// distributeParts distributes total hundredths over the terms: each is first rounded towards zero, and then the
// remaining hundredths go one by one to the terms with the largest remainder. A term without weight gets nothing unless
// no other term can take it.
func distributeParts(terms []term, slope float64, total int, parts []int) {
	var rest [most]float64
	left := total
	for i, t := range terms {
		exact := t.weight * slope
		parts[i] = int(exact)
		rest[i] = exact - float64(parts[i])
		left -= parts[i]
	}

	step := 1
	if left < 0 {
		step = -1
	}
	for ; left != 0; left -= step {
		best := 0
		for i := range terms {
			if float64(step)*rest[i] > float64(step)*rest[best] {
				best = i
			}
		}
		parts[best] += step
		rest[best] -= float64(step)
	}
}

// place masks the bits of a word in falling that hold an index.
const place = 1<<16 - 1

// sortFalling returns the indexes of parts by descending absolute size; equal sizes keep their order. It is an
// insertion sort of single words, which is fast for a few dozen.
func sortFalling(parts []int, room *[most]uint64) []uint64 {
	for i, p := range parts {
		// Of equal sizes the earlier one has the larger word, until the index is restored below.
		word := uint64(max(p, -p))<<16 | uint64(place-i)
		j := i
		for ; j > 0 && room[j-1] < word; j-- {
			room[j] = room[j-1]
		}
		room[j] = word
	}
	for i := range parts {
		room[i] = place - room[i]&place
	}
	return room[:len(parts)]
}

func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func hundredths(p float64) int { return int(math.Round(p * 10000)) }

// Band returns the name of the quarter of the scale that contains a score. Crossing into another band is announced.
func Band(lead float64) string {
	switch {
	case lead < 25:
		return "cold"
	case lead < 50:
		return "warm"
	case lead < 75:
		return "hot"
	default:
		return "top"
	}
}

// Moved reports whether a score has changed enough to be announced: another band, or at least 5 points.
func Moved(told, now float64) bool {
	return Band(told) != Band(now) || math.Abs(told-now) >= 5-1e-9
}
