package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
)

// scoreReason is one part of a score.
type scoreReason struct {
	Feature string  `json:"feature" doc:"A field of the contact, email_domain, or base: what a contact of whom nothing is known has"`
	Value   string  `json:"value" doc:"What the contact has there: a word of its own, or present, absent, business, free, disposable, 1-4"`
	Points  float64 `json:"points" doc:"Two decimals; all points, the base's included, add up to score exactly"`
}

type scoreAnswer struct {
	Tagged
	Body scoreBody
}

type scoreBody struct {
	Score        float64       `json:"score" doc:"100 x probability, two decimals; the contact's lead_score"`
	Probability  float64       `json:"probability"`
	Confidence   string        `json:"confidence" enum:"prior,learning,learned"`
	ModelVersion string        `json:"model_version"`
	Reasons      []scoreReason `json:"reasons" doc:"The base first, then by falling weight of their points"`
}

// explainScore explains by the org's current model. Until the scoring job has come by after a change of models, that
// may be a newer one than the contact's stored score is from; score and reasons always belong together.
func (a *App) explainScore(ctx context.Context, in *ContactID) (*scoreAnswer, error) {
	return read(ctx, a, func(tx *postgres.Tx) (*scoreAnswer, error) {
		row, err := contacts.Get(ctx, tx, in.ID, false)
		if err != nil {
			return nil, err
		}
		seen := scoring.Of(&row.Contact)
		score, reasons := scoring.For(tx.Org()).Explain(&seen, make([]scoring.Reason, 0, 16))
		out := &scoreAnswer{Tagged: etag(row.Edit, row.Computed), Body: scoreBody{
			Score: score.Lead, Probability: score.Probability, Confidence: string(score.Confidence), ModelVersion: score.Version, Reasons: make([]scoreReason, len(reasons)),
		}}
		for i, r := range reasons {
			out.Body.Reasons[i] = scoreReason{string(r.Feature), r.Value, r.Points}
		}
		return out, nil
	})
}

// scoreWeight is what one level of one feature weighs.
type scoreWeight struct {
	Feature string  `json:"feature"`
	Value   string  `json:"value" doc:"* stands for every value without a weight of its own"`
	Weight  float64 `json:"weight" doc:"Log odds"`
}

type modelBody struct {
	Confidence string             `json:"confidence" enum:"prior,learning,learned"`
	Version    string             `json:"version"`
	Metrics    map[string]float64 `json:"metrics" doc:"How the model did on outcomes that it was not trained on; empty for the shipped prior"`
	Intercept  float64            `json:"intercept" doc:"Log odds of a contact of whom nothing is known"`
	Features   []scoreWeight      `json:"features"`
}

type modelAnswer struct{ Body modelBody }

func (a *App) mountScoreModel() {
	route(a, op{Method: http.MethodGet, Path: "/api/v1/ai/score-model", Need: viewer, Tag: "AI", Title: "The model that scores the organization's contacts"}, a.showScoreModel)
}

func (a *App) showScoreModel(ctx context.Context, _ *struct{}) (*modelAnswer, error) {
	m := scoring.For(who(ctx).Org)
	out := &modelAnswer{Body: modelBody{Confidence: string(m.Confidence), Version: m.Version, Metrics: map[string]float64{}, Intercept: m.Intercept, Features: []scoreWeight{}}}
	for _, f := range scoring.Features() {
		first := len(out.Body.Features)
		for level, w := range m.Weights[f] {
			out.Body.Features = append(out.Body.Features, scoreWeight{string(f), level, w})
		}
		slices.SortFunc(out.Body.Features[first:], func(x, y scoreWeight) int {
			return cmp.Or(cmp.Compare(y.Weight, x.Weight), cmp.Compare(x.Value, y.Value))
		})
	}
	return out, nil
}
