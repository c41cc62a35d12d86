package scoring

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Confidence describes the data behind a model.
type Confidence string

// Levels of confidence.
const (
	FromPrior Confidence = "prior"    // the shipped weights alone: fewer than 30 outcomes
	Learning  Confidence = "learning" // the org's outcomes adjust the prior
	Learned   Confidence = "learned"  // the org's outcomes dominate
)

// Feature is a feature of the model. Its text is the name in reasons.
type Feature string

// Features of a contact.
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
	// Base is not a feature. It is the reason for the score of a contact without any known features.
	Base Feature = "base"
)

// Features returns the features of a model, in the order of reasons with equal points.
func Features() []Feature {
	return []Feature{
		Stage, Company, Tag, EmailDomain, JobTitle, Source, Phone, Owner, Attributes, Replies7, Replies30, Replies90,
		Clicks7, Clicks30, Clicks90,
	}
}

// Other is the level for every level without its own weight.
const Other = "*"

// Model is one version of a scorer. It must not be changed once used, and is safe for concurrent use.
type Model struct {
	Version    string     `json:"version"`
	Confidence Confidence `json:"confidence"`
	Intercept  float64    `json:"intercept"` // log odds of the base
	// Weights holds log odds by feature and level. A missing level has the weight of Other, or else zero.
	Weights map[Feature]map[string]float64 `json:"weights"`
	// Fields holds the weights of custom fields.
	Fields []Field `json:"fields,omitempty"`
}

// Parse parses a stored model. A weight that is not finite and a missing version are errors.
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
			if !isSane(w) {
				return nil, fmt.Errorf("read model: weight of %s %q is %v", f, level, w)
			}
		}
	}

	if err := m.Prepare(); err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}

	return &m, nil
}

// maxModelFields is the maximum number of custom fields of a model, equal to the limit per org.
const maxModelFields = 200

// Prepare prepares a model that was not read by Parse for scoring. It returns an error if the model is invalid.
func (m *Model) Prepare() error {
	if len(m.Fields) > maxModelFields {
		return fmt.Errorf("%d fields", len(m.Fields))
	}
	for i := range m.Fields {
		if err := m.Fields[i].prepareLabels(); err != nil {
			return err
		}
	}
	return nil
}

// Uses reports whether a change of the feature can change the score under m.
func (m *Model) Uses(f Feature) bool {
	for _, w := range m.Weights[f] {
		if w != 0 {
			return true
		}
	}
	return false
}

func (m *Model) levelWeight(f Feature, level string) float64 {
	levels := m.Weights[f]
	if w, ok := levels[level]; ok {
		return w
	}
	return levels[Other]
}
