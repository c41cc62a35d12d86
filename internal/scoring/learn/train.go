package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/scoring"
)

// Example is one outcome: a contact as it was known when its deal began, and whether the deal was won.
type Example struct {
	Contact scoring.Contact
	Won     bool
	At      time.Time // when the snapshot was made; examples are learned from in this order
	// Edited are the features that were changed after the contact was made, and shortly before the outcome or after it.
	Edited []scoring.Feature
}

// ErrTooFew is the answer where there is nothing to learn from.
var ErrTooFew = errors.New("learning needs outcomes of both kinds")

// How many outcomes change what is done.
const (
	few       = 30  // fewer: the model is still called the prior
	plenty    = 250 // as many: the org's own outcomes decide
	calibrate = 200 // as many: what was foretold is held against what came
	mostSeen  = 100_000
)

// Weight is one weight of a model with what it was learned from.
type Weight struct {
	Feature scoring.Feature `json:"feature"`
	Level   string          `json:"level"`
	Weight  float64         `json:"weight" doc:"Log odds"`
	Prior   float64         `json:"prior" doc:"The weight before any outcome"`
	Count   int             `json:"count" doc:"Outcomes with this level"`
	Won     int             `json:"won"`
}

// Report says how a model came about.
type Report struct {
	Outcomes    int           `json:"outcomes"`
	Won         int           `json:"won"`
	From        time.Time     `json:"from"` // of the oldest snapshot
	To          time.Time     `json:"to"`
	Metrics     *Metrics      `json:"metrics"`     // on outcomes later than what was learned from; nil below 200
	Reliability []Bin         `json:"reliability"` // of the same
	Slope       float64       `json:"slope"`       // of the calibration; 1 is none
	Shift       float64       `json:"shift"`
	Weights     []Weight      `json:"weights"`
	Quarantined []Quarantined `json:"quarantined"`
	Contest     Contest       `json:"contest"` // what decided on its promotion
}

// Rival is the model in use, and the last snapshot that it has seen.
type Rival struct {
	Model *scoring.Model
	Seen  time.Time
}

// Contest is how the new model and the one in use foretold the same outcomes.
type Contest struct {
	Outcomes int     `json:"outcomes"`
	LogLoss  float64 `json:"log_loss"` // of the new one
	InUse    float64 `json:"in_use"`   // of the one in use
	// Noise is the standard error of their difference where few outcomes are held against the shipped model, else 0.
	Noise float64 `json:"noise" doc:"How much above in_use log_loss may be: the standard error of their difference where few outcomes compare a version with the shipped one, else 0"`
}

// Won reports whether the new model did not worsen. A model that few outcomes have moved away from the shipped one may be
// above it by the noise: it is the shipped model where the outcomes say nothing.
func (c *Contest) Won() bool { return c.LogLoss <= c.InUse+c.Noise }

// Train learns a model from the examples, of which it takes the latest 100,000, and holds it against the one in use. It is
// deterministic. With outcomes of one kind alone it is ErrTooFew.
func Train(ctx context.Context, version string, ex []Example, prior *scoring.Model, inUse Rival) (*scoring.Model, *Report, error) {
	ex = slices.Clone(ex)
	slices.SortStableFunc(ex, func(a, b Example) int { return a.At.Compare(b.At) })
	ex = ex[max(0, len(ex)-mostSeen):]
	r := &Report{Outcomes: len(ex), Slope: 1}
	for i := range ex {
		if ex[i].Won {
			r.Won++
		}
	}
	if r.Won == 0 || r.Won == len(ex) {
		return nil, nil, ErrTooFew
	}
	r.From, r.To = ex[0].At, ex[len(ex)-1].At
	cols := columns(ex, prior)
	r.Quarantined = guard(cols, ex)
	d := newDesign(slices.DeleteFunc(cols, func(c *column) bool {
		return slices.ContainsFunc(r.Quarantined, func(q Quarantined) bool { return q.Feature == c.feature })
	}), ex)
	f, err := d.fit(ctx, prior)
	if err != nil {
		return nil, nil, fmt.Errorf("fit: %w", err)
	}
	if err := r.judge(ctx, f, ex, prior, inUse); err != nil {
		return nil, nil, fmt.Errorf("judge: %w", err)
	}
	r.Weights = f.weights()
	m, err := f.model(version, confidence(len(ex)))
	return m, r, err
}

// judge calibrates f, and fills in how well the later half of the outcomes is foretold from those before them. Fewer than
// plenty are held against the model in use by cross-validation over all of them, since half of them decide by chance.
func (r *Report) judge(ctx context.Context, f *fitted, ex []Example, prior *scoring.Model, inUse Rival) error {
	if len(ex) >= calibrate {
		o, err := f.cross(ctx)
		if err != nil {
			return err
		}
		if f.slope, f.shift, err = o.platt(); err != nil {
			return err
		}
		r.Slope, r.Shift = f.slope, f.shift
	}
	if len(ex) < plenty {
		p, err := f.rehearse(ctx)
		if err != nil {
			return err
		}
		r.Contest = contest(p, ex, inUse)
		if inUse.Model.Version == prior.Version {
			r.Contest.Noise = noise(p, ex, inUse.Model)
		}
	}
	late, err := f.walk(ctx)
	if err != nil {
		return err
	}
	p := late.said(r.Slope, r.Shift)
	if len(ex) >= plenty {
		r.Contest = contest(p, ex[len(ex)-len(p):], inUse)
	}
	if len(ex) >= calibrate {
		m := Measure(p, late.won)
		r.Metrics, r.Reliability = &m, Reliability(p, late.won, 10)
	}
	return nil
}

// fair is how many outcomes newer than all that the model in use has seen decide alone.
const fair = 20

// contest holds p, what was foretold of ex, against the model in use: on outcomes that it has not seen where there are enough, else
// on all, which favours it.
func contest(p []float64, ex []Example, inUse Rival) Contest {
	from := 0
	for from < len(ex) && !ex[from].At.After(inUse.Seen) {
		from++
	}
	if len(ex)-from < fair {
		from = 0
	}
	won, other := make([]bool, 0, len(ex)), make([]float64, 0, len(ex))
	for i := range ex[from:] {
		e := &ex[from+i]
		won, other = append(won, e.Won), append(other, inUse.Model.Score(&e.Contact).Probability)
	}
	return Contest{Outcomes: len(won), LogLoss: Measure(p[from:], won).LogLoss, InUse: Measure(other, won).LogLoss}
}

// noise is the standard error of the mean difference of the log losses of p, foretold of ex, and of the other model.
func noise(p []float64, ex []Example, other *scoring.Model) float64 {
	n, sum, squares := float64(len(ex)), 0.0, 0.0
	for i := range ex {
		e := &ex[i]
		d := surprise(p[i], e.Won) - surprise(other.Score(&e.Contact).Probability, e.Won)
		sum += d
		squares += d * d
	}
	if n < 2 {
		return 0
	}
	return math.Sqrt(max(0, squares-sum*sum/n) / (n - 1) / n)
}

// surprise is the log loss of one outcome to which p was given.
func surprise(p float64, won bool) float64 {
	if !won {
		p = 1 - p
	}
	return -math.Log(min(max(p, 1e-12), 1))
}

func confidence(outcomes int) scoring.Confidence {
	switch {
	case outcomes < few:
		return scoring.FromPrior
	case outcomes < plenty:
		return scoring.Learning
	}
	return scoring.Learned
}

// fitted is a model in the making.
type fitted struct {
	d            *design
	b            *belief
	first        belief // before any outcome
	w            []float64
	slope, shift float64 // of the calibration
}

// fit learns from all rows.
func (d *design) fit(ctx context.Context, prior *scoring.Model) (*fitted, error) {
	b := &belief{mean: make([]float64, d.size), intercept: 1 / (spreadBase * spreadBase), tau: make([]float64, len(d.cols))}
	b.mean[0] = prior.Intercept
	for i, c := range d.cols {
		copy(b.mean[c.first:], c.mean)
		b.tau[i] = 1 / (spread * spread)
	}
	f := &fitted{d: d, b: b, w: slices.Clone(b.mean), slope: 1}
	f.first = *b
	f.first.tau = slices.Clone(b.tau)
	return f, d.settle(ctx, b, span(0, len(d.won)), f.w, rounds)
}

func (f *fitted) weight(c *column, i int) float64 { return min(max(f.slope*f.w[c.first+i], -20), 20) }

// model is f as it is stored and used: the calibration is part of the weights, so that reasons stay additive.
func (f *fitted) model(version string, confidence scoring.Confidence) (*scoring.Model, error) {
	m := &scoring.Model{Version: version, Confidence: confidence, Weights: map[scoring.Feature]map[string]float64{}}
	m.Intercept = f.slope*f.w[0] + f.shift
	for _, c := range f.d.cols {
		if c.field != nil {
			m.Fields = append(m.Fields, f.field(c))
			continue
		}
		levels := map[string]float64{}
		for i, l := range c.levels {
			levels[l] = f.weight(c, i)
		}
		m.Weights[c.feature] = levels
	}
	if err := m.Prepare(); err != nil {
		return nil, fmt.Errorf("learned model: %w", err)
	}
	return m, nil
}

func (f *fitted) field(c *column) scoring.Field {
	out := scoring.Field{Key: c.field.Key, Kind: c.field.Kind, Edges: slices.Clone(c.field.Edges)}
	for i, l := range c.levels {
		switch {
		case l == absentLevel:
			out.Absent = f.weight(c, i)
		case l == otherLevel:
			out.Other = f.weight(c, i)
		case i < c.ordered:
			out.Bins = append(out.Bins, f.weight(c, i))
		default:
			if out.Levels == nil {
				out.Levels = map[string]float64{}
			}
			out.Levels[l] = f.weight(c, i)
		}
	}
	return out
}

// weights are all weights with their data, the heaviest first.
func (f *fitted) weights() []Weight {
	n, won := make([]int, f.d.size), make([]int, f.d.size)
	for i, y := range f.d.won {
		for _, at := range f.d.row(i) {
			n[at]++
			if y {
				won[at]++
			}
		}
	}
	var out []Weight
	for _, c := range f.d.cols {
		for i := range c.levels {
			at := c.first + i
			out = append(out, Weight{Feature: c.feature, Level: c.name(i), Weight: f.weight(c, i), Prior: f.b.mean[at], Count: n[at], Won: won[at]})
		}
	}
	slices.SortStableFunc(out, func(a, b Weight) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
	return out
}

// name is the level as reasons show it.
func (c *column) name(i int) string {
	switch l := c.levels[i]; {
	case l == absentLevel:
		return "absent"
	case l == otherLevel:
		return "other"
	case i < c.ordered:
		return c.field.BinName(i)
	default:
		return l
	}
}
