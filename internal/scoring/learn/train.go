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

// Example is one outcome: a contact as known at the start of its deal, and whether the deal was won.
type Example struct {
	Contact scoring.Contact
	Won     bool
	At      time.Time // time of the snapshot; examples are learned in this order
	// Edited lists the features that were edited after the creation of the contact, and shortly before or after the
	// outcome.
	Edited []scoring.Feature
}

// ErrTooFew means that there are not enough outcomes to learn from.
var ErrTooFew = errors.New("learning needs outcomes of both kinds")

// Thresholds on the number of outcomes.
const (
	few       = 30  // below: confidence is still "prior"
	plenty    = 250 // from here on the org's own outcomes decide
	calibrate = 200 // from here on the model is calibrated and measured
	mostSeen  = 100_000
)

// Weight is one weight of a model and the data that it was learned from.
type Weight struct {
	Feature scoring.Feature `json:"feature"`
	Level   string          `json:"level"`
	Weight  float64         `json:"weight" doc:"Log odds"`
	Prior   float64         `json:"prior" doc:"The weight in the prior"`
	Count   int             `json:"count" doc:"Outcomes with this level"`
	Won     int             `json:"won"`
}

// Report describes how a model was trained.
type Report struct {
	Outcomes    int                  `json:"outcomes"`
	Won         int                  `json:"won"`
	From        time.Time            `json:"from"` // time of the oldest snapshot
	To          time.Time            `json:"to"`
	Metrics     *Metrics             `json:"metrics"`     // on outcomes after those learned from; nil below 200
	Reliability []CalibrationBin     `json:"reliability"` // on the same outcomes
	Slope       float64              `json:"slope"`       // of the calibration; 1 means none
	Shift       float64              `json:"shift"`
	Weights     []Weight             `json:"weights"`
	Quarantined []QuarantinedFeature `json:"quarantined"`
	Comparison  Comparison           `json:"contest"` // decides the promotion
}

// Incumbent is the model in use, and the time of the last snapshot that it has seen.
type Incumbent struct {
	Model *scoring.Model
	Seen  time.Time
}

// Comparison compares the predictions of the new model and the model in use on the same outcomes.
type Comparison struct {
	Outcomes int     `json:"outcomes" doc:"Outcomes on which both versions were compared"`
	LogLoss  float64 `json:"log_loss" doc:"Log loss of the new version on them; lower is better"` // of the new model
	InUse    float64 `json:"in_use"`                                                              // of the model in use
	// Noise is the standard error of the difference if few outcomes compare a model with the shipped one, else 0.
	Noise float64 `json:"noise"`
}

// Descriptions implements wire.Describer.
func (Comparison) Descriptions() map[string]string {
	return map[string]string{
		"noise": "Allowed excess of log_loss over in_use: the standard error of the difference if few outcomes " +
			"compare a version with the shipped one, else 0",
		"in_use": "Log loss of the version then in use on the same outcomes",
	}
}

// Won reports whether the new model is at least as good. A model that was trained on few outcomes may be worse than the
// shipped model by up to the noise, because it equals the shipped model where the outcomes carry no information.
func (c *Comparison) Won() bool { return c.LogLoss <= c.InUse+c.Noise }

// Train trains a model on the latest 100,000 examples and compares it with the model in use. It is deterministic. If
// all outcomes are of one kind, the error is ErrTooFew.
func Train(ctx context.Context, version string, ex []Example, prior *scoring.Model, inUse Incumbent) (*scoring.Model,
	*Report, error,
) {
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

	r.From = ex[0].At
	r.To = ex[len(ex)-1].At
	cols := newColumns(ex, prior)
	r.Quarantined = findLeaks(cols, ex)
	d := newDesign(slices.DeleteFunc(cols, func(c *column) bool {
		return slices.ContainsFunc(r.Quarantined, func(q QuarantinedFeature) bool { return q.Feature == c.feature })
	}), ex)
	f, err := d.fitAll(ctx, prior)
	if err != nil {
		return nil, nil, fmt.Errorf("fit: %w", err)
	}
	if err := r.measureFit(ctx, f, ex, prior, inUse); err != nil {
		return nil, nil, fmt.Errorf("judge: %w", err)
	}

	r.Weights = f.sortedWeights()
	m, err := f.scoringModel(version, confidenceAfter(len(ex)))
	return m, r, err
}

// measureFit calibrates f and measures how well the later half of the outcomes is predicted from the earlier ones. With
// fewer than plenty outcomes it compares f with the model in use by cross-validation over all outcomes, because half of
// them would decide by chance.
func (r *Report) measureFit(ctx context.Context, f *fitted, ex []Example, prior *scoring.Model, inUse Incumbent) error {
	if len(ex) >= calibrate {
		o, err := f.crossValidate(ctx)
		if err != nil {
			return err
		}
		if f.slope, f.shift, err = o.fitPlatt(); err != nil {
			return err
		}
		r.Slope = f.slope
		r.Shift = f.shift
	}
	if len(ex) < plenty {
		p, err := f.predictTenths(ctx)
		if err != nil {
			return err
		}
		r.Comparison = comparePredictions(p, ex, inUse)
		if inUse.Model.Version == prior.Version {
			r.Comparison.Noise = lossNoise(p, ex, inUse.Model)
		}
	}
	late, err := f.walkForward(ctx)
	if err != nil {
		return err
	}

	p := late.calibratedScores(r.Slope, r.Shift)
	if len(ex) >= plenty {
		r.Comparison = comparePredictions(p, ex[len(ex)-len(p):], inUse)
	}
	if len(ex) >= calibrate {
		m := Measure(p, late.won)
		r.Metrics = &m
		r.Reliability = Reliability(p, late.won, 10)
	}

	return nil
}

// fair is the number of outcomes unseen by the model in use from which on only they decide.
const fair = 20

// comparePredictions compares the predictions p of ex with those of the model in use. It uses outcomes that the model
// in use has not seen, or, if there are too few, all outcomes, which favours the model in use.
func comparePredictions(p []float64, ex []Example, inUse Incumbent) Comparison {
	from := 0
	for from < len(ex) && !ex[from].At.After(inUse.Seen) {
		from++
	}
	if len(ex)-from < fair {
		from = 0
	}
	won := make([]bool, 0, len(ex))
	other := make([]float64, 0, len(ex))
	for i := range ex[from:] {
		e := &ex[from+i]
		won, other = append(won, e.Won), append(other, inUse.Model.Score(&e.Contact).Probability)
	}
	return Comparison{Outcomes: len(won), LogLoss: Measure(p[from:], won).LogLoss, InUse: Measure(other, won).LogLoss}
}

// lossNoise returns the standard error of the mean difference between the log losses of the predictions p of ex and of
// the other model.
func lossNoise(p []float64, ex []Example, other *scoring.Model) float64 {
	n := float64(len(ex))
	sum := 0.0
	squares := 0.0
	for i := range ex {
		e := &ex[i]
		d := outcomeLoss(p[i], e.Won) - outcomeLoss(other.Score(&e.Contact).Probability, e.Won)
		sum += d
		squares += d * d
	}
	if n < 2 {
		return 0
	}
	return math.Sqrt(max(0, squares-sum*sum/n) / (n - 1) / n)
}

// outcomeLoss returns the log loss of one outcome with the predicted probability p.
func outcomeLoss(p float64, won bool) float64 {
	if !won {
		p = 1 - p
	}
	return -math.Log(min(max(p, 1e-12), 1))
}

func confidenceAfter(outcomes int) scoring.Confidence {
	switch {
	case outcomes < few:
		return scoring.FromPrior
	case outcomes < plenty:
		return scoring.Learning
	}
	return scoring.Learned
}

// fitted is a fitted model before conversion to a scoring.Model.
type fitted struct {
	d            *design
	b            *weightPrior
	first        weightPrior // the prior before any outcome
	w            []float64
	slope, shift float64 // of the calibration
}

// fitAll trains on all rows.
func (d *design) fitAll(ctx context.Context, prior *scoring.Model) (*fitted, error) {
	b := &weightPrior{
		mean: make([]float64, d.size), intercept: 1 / (spreadBase * spreadBase),
		tau: make([]float64, len(d.cols)),
	}
	b.mean[0] = prior.Intercept
	for i, c := range d.cols {
		copy(b.mean[c.first:], c.mean)
		b.tau[i] = 1 / (spread * spread)
	}
	f := &fitted{d: d, b: b, w: slices.Clone(b.mean), slope: 1}
	f.first = *b
	f.first.tau = slices.Clone(b.tau)
	return f, d.fitPrecisions(ctx, b, rowRange(0, len(d.won)), f.w, rounds)
}

func (f *fitted) calibratedWeight(c *column, i int) float64 {
	return min(max(f.slope*f.w[c.first+i], -20), 20)
}

// scoringModel returns f as a scoring.Model. The weights include the calibration, so that reasons remain additive.
func (f *fitted) scoringModel(version string, confidence scoring.Confidence) (*scoring.Model, error) {
	m := &scoring.Model{Version: version, Confidence: confidence, Weights: map[scoring.Feature]map[string]float64{}}
	m.Intercept = f.slope*f.w[0] + f.shift
	for _, c := range f.d.cols {
		if c.field != nil {
			m.Fields = append(m.Fields, f.scoringField(c))
			continue
		}
		levels := map[string]float64{}
		for i, l := range c.levels {
			levels[l] = f.calibratedWeight(c, i)
		}
		m.Weights[c.feature] = levels
	}

	if err := m.Prepare(); err != nil {
		return nil, fmt.Errorf("learned model: %w", err)
	}

	return m, nil
}

func (f *fitted) scoringField(c *column) scoring.Field {
	out := scoring.Field{Key: c.field.Key, Kind: c.field.Kind, Edges: slices.Clone(c.field.Edges)}
	for i, l := range c.levels {
		switch {
		case l == absentLevel:
			out.Absent = f.calibratedWeight(c, i)
		case l == otherLevel:
			out.Other = f.calibratedWeight(c, i)
		case i < c.ordered:
			out.Bins = append(out.Bins, f.calibratedWeight(c, i))
		default:
			if out.Levels == nil {
				out.Levels = map[string]float64{}
			}
			out.Levels[l] = f.calibratedWeight(c, i)
		}
	}

	return out
}

// sortedWeights returns all weights with their data, sorted by descending absolute weight.
func (f *fitted) sortedWeights() []Weight {
	n := make([]int, f.d.size)
	won := make([]int, f.d.size)
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
			out = append(out,
				Weight{
					Feature: c.feature, Level: c.levelName(i), Weight: f.calibratedWeight(c, i), Prior: f.b.mean[at],
					Count: n[at], Won: won[at],
				})
		}
	}

	slices.SortStableFunc(out, func(a, b Weight) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
	return out
}

// levelName returns the name of level i in reasons.
func (c *column) levelName(i int) string {
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
