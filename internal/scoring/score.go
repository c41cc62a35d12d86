package scoring

import "math"

// Score is what a model says of a contact.
type Score struct {
	Lead        float64 // 100 x Probability, rounded to hundredths
	Probability float64 // not rounded
	Confidence  Confidence
	Version     string
}

// Reason is one part of a score. All parts, the base included, add up to Score.Lead in hundredths.
type Reason struct {
	Feature Feature
	Value   string // the level: the contact's own word, or "present", "absent", "business", "5+"
	Points  float64
}

// Score answers the probability that c becomes a customer. It allocates nothing.
func (m *Model) Score(c *Contact) Score {
	var room [most]term
	z := m.Intercept
	for _, t := range m.terms(c, &room) {
		z += t.weight
	}
	p := logistic(z)
	return Score{Lead: float64(hundredths(p)) / 100, Probability: p, Confidence: m.Confidence, Version: m.Version}
}

// Explain answers the score and appends its reasons to into: the base first, then the features by falling weight
// of their points. With room in into it allocates nothing.
func (m *Model) Explain(c *Contact, into []Reason) (Score, []Reason) {
	var room [most]term
	terms := m.terms(c, &room)
	z := m.Intercept
	for _, t := range terms {
		z += t.weight
	}
	p, p0 := logistic(z), logistic(m.Intercept)
	whole, base := hundredths(p), hundredths(p0)

	var parts [most]int
	share(terms, chord(m.Intercept, p0, z, p), whole-base, parts[:len(terms)])

	into = append(into, Reason{Feature: Base, Points: float64(base) / 100})
	var order [most]uint64
	for _, i := range falling(parts[:len(terms)], &order) {
		t := &terms[i]
		into = append(into, Reason{Feature: t.feature, Value: t.level, Points: float64(parts[i]) / 100})
	}
	return Score{Lead: float64(whole) / 100, Probability: p, Confidence: m.Confidence, Version: m.Version}, into
}

// chord is the slope, in hundredths of a point, of the logistic curve between the base and the contact.
func chord(z0, p0, z, p float64) float64 {
	if math.Abs(z-z0) < 1e-6 {
		return 10000 * p0 * (1 - p0) // the limit: the tangent
	}
	return 10000 * (p - p0) / (z - z0)
}

// share gives each term its hundredths, so that they add up to total: rounded towards zero first, then a
// hundredth at a time to the terms with the largest remainder. A term without weight gets nothing unless no other
// can take it.
func share(terms []term, slope float64, total int, parts []int) {
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

// place are the bits of falling's words that hold a place.
const place = 1<<16 - 1

// falling are the places of parts by falling size, those of one size in their order: an insertion sort of single words,
// which is quick for a few dozen.
func falling(parts []int, room *[most]uint64) []uint64 {
	for i, p := range parts {
		// Of one size the earlier is the larger word, until its place is put right below.
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

// Band names the quarter of the scale that a score lies in; crossing into another one is worth telling.
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

// Moved tells whether a score has changed enough to be told: another band, or at least 5 points.
func Moved(told, now float64) bool {
	return Band(told) != Band(now) || math.Abs(told-now) >= 5-1e-9
}
