package api

import (
	"context"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
)

// scoreReason is one component of a score.
type scoreReason struct {
	Feature string  `json:"feature" doc:"Field of the contact, email_domain, attributes.KEY, clicks_7d and such, or base"` //nolint:lll // a tag cannot be broken
	Value   string  `json:"value" doc:"The level: a value or range, present, absent, business, free, disposable or 1-4"`
	Points  float64 `json:"points" doc:"Two decimals; all points, including base, sum to score exactly"`
}

type scoreAnswer struct {
	httpx.Tagged
	Body scoreExplanation
}

type scoreExplanation struct {
	Score        float64       `json:"score" doc:"100 x probability, two decimals; the contact's lead_score"`
	Probability  float64       `json:"probability" doc:"Probability that the contact's deal is won, 0 to 1"`
	Confidence   string        `json:"confidence" enum:"prior,learning,learned"`
	ModelVersion string        `json:"model_version"`
	Reasons      []scoreReason `json:"reasons" doc:"Base first, then by descending magnitude of points"`
}

// Descriptions implements wire.Describer.
func (scoreExplanation) Descriptions() map[string]string {
	return map[string]string{
		"confidence":    "prior: the shipped model; learning: the org's outcomes adjust it; learned: they dominate",
		"model_version": "Version of the model, such as prior-1; see GET /api/v1/ai/score-model",
	}
}

// explainScore explains the score by the org's current model. After a change of models this may be newer than the model
// of the contact's stored score, until the scoring job has run. Score and reasons in the response always match.
func (a *App) explainScore(ctx context.Context, in *ContactID) (*scoreAnswer, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*scoreAnswer, error) {
		row, err := contacts.Get(ctx, tx, in.ID, false)
		if err != nil {
			return nil, err
		}

		model, err := a.Scores.In(ctx, tx)
		if err != nil {
			return nil, err
		}

		seen := scoring.Of(&row.Contact)
		score, reasons := model.Explain(&seen, make([]scoring.Reason, 0, 16))
		out := &scoreAnswer{Tagged: httpx.ETag(row.Edit, row.Computed), Body: scoreExplanation{
			Score: score.Lead, Probability: score.Probability, Confidence: string(score.Confidence),
			ModelVersion: score.Version, Reasons: make([]scoreReason, len(reasons)),
		}}

		for i, r := range reasons {
			out.Body.Reasons[i] = scoreReason{string(r.Feature), r.Value, r.Points}
		}

		return out, nil
	})
}
