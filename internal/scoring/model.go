package scoring

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Confidence says what a model was made from.
type Confidence string

// The three confidences.
const (
	FromPrior Confidence = "prior"    // the shipped weights alone: fewer than 30 outcomes
	Learning  Confidence = "learning" // the org's outcomes weigh in beside the prior
	Learned   Confidence = "learned"  // the org's outcomes decide
)

// Feature is one thing that the model looks at. Its text is the name in reasons.
type Feature string

// The features of a contact.
const (
	Stage       Feature = "stage"
	Company     Feature = "company_id"
	Tag         Feature = "tag"
	EmailDomain Feature = "email_domain"
	JobTitle    Feature = "job_title"
	Source      Feature = "source"
	Phone       Feature = "phone"
	Owner       Feature = "owner_id"
	Attributes  Feature = "attributes"
	// Base is no feature: it is the reason that stands for a contact of whom nothing is known.
	Base Feature = "base"
)

// Features lists what a model may weigh, in the order in which reasons of equal points are given.
func Features() []Feature {
	return []Feature{Stage, Company, Tag, EmailDomain, JobTitle, Source, Phone, Owner, Attributes}
}

// Other is the level that stands for every level without a weight of its own.
const Other = "*"

// Model is one version of a scorer. It is immutable once used and safe for concurrent use.
type Model struct {
	Version    string     `json:"version"`
	Confidence Confidence `json:"confidence"`
	Intercept  float64    `json:"intercept"` // log odds of the base
	// Weights are log odds by feature and level. A level that is missing weighs what Other weighs, else nothing.
	Weights map[Feature]map[string]float64 `json:"weights"`
	// Fields are the custom fields that the model weighs one by one.
	Fields []Field `json:"fields,omitempty"`
}

// Parse reads a stored model. A weight that is no finite number, or a model without a version, is an error.
func Parse(b []byte) (*Model, error) {
	var m Model
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	if m.Version == "" {
		return nil, errors.New("read model: no version")
	}
	for f, levels := range m.Weights {
		for level, w := range levels {
			if !sane(w) {
				return nil, fmt.Errorf("read model: weight of %s %q is %v", f, level, w)
			}
		}
	}
	if err := m.Prepare(); err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	return &m, nil
}

// maxModelFields is how many custom fields a model has room for: as many as an org may define.
const maxModelFields = 200

// Prepare makes a model that was not read by Parse ready to score; an error says what is wrong with it.
func (m *Model) Prepare() error {
	if len(m.Fields) > maxModelFields {
		return fmt.Errorf("%d fields", len(m.Fields))
	}
	for i := range m.Fields {
		if err := m.Fields[i].prepare(); err != nil {
			return err
		}
	}
	return nil
}

// Uses tells whether a change of the feature can move the score under m.
func (m *Model) Uses(f Feature) bool {
	for _, w := range m.Weights[f] {
		if w != 0 {
			return true
		}
	}
	return false
}

func (m *Model) weight(f Feature, level string) float64 {
	levels := m.Weights[f]
	if w, ok := levels[level]; ok {
		return w
	}
	return levels[Other]
}
