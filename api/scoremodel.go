package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/learn"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/leadrescore"
	"github.com/funnelwork/funnelwork/jobs/scoretrain"
)

const scoreModelPath = "/api/v1/ai/score-model"

func (a *App) mountScoreModel() {
	const tag = "AI"
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "score_model.get",
			Method: http.MethodGet, Path: scoreModelPath, Need: httpx.Viewer, Tag: tag,
			Title: "Get the model that scores the organization's contacts",
		}, a.showScoreModel)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "score_model.train",
			Method: http.MethodPost, Path: scoreModelPath + "/train", Need: httpx.Member, Tag: tag,
			Title: "Train a scoring model now", Status: http.StatusAccepted,
			Writes: []string{scoretrain.Kind.Name()},
		}, a.trainScoreModel)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "score_model.rollback",
			Method: http.MethodPost, Path: scoreModelPath + "/rollback", Need: httpx.Admin, Tag: tag,
			Title: "Switch to another version of the scoring model", Writes: []string{leadrescore.Kind.Name()},
		},
		a.rollbackScoreModel)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "score_model.list_versions",
			Method: http.MethodGet, Path: scoreModelPath + "/versions", Need: httpx.Viewer, Tag: tag,
			Title: "List the versions of the scoring model",
		}, a.listScoreModels)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "score_model.get_version",
			Method: http.MethodGet, Path: scoreModelPath + "/versions/{version}", Need: httpx.Viewer, Tag: tag,
			Title: "Get a version of the scoring model",
		}, a.getScoreModel)
}

// scoreWeight is the weight of one level of one feature.
type scoreWeight struct {
	Feature string  `json:"feature" doc:"A field of the contact, email_domain, attributes.KEY, or clicks_7d and such"`
	Value   string  `json:"value" doc:"* and other match every value without its own weight"`
	Weight  float64 `json:"weight" doc:"Contribution of this value to the log odds"`
	Prior   float64 `json:"prior" doc:"Log odds before training"`
	Count   int     `json:"count" doc:"Training outcomes with this value"`
	Won     int     `json:"won" doc:"The number of them that were won"`
}

// ScoreModelSummary is a model version in a list.
type ScoreModelSummary struct {
	Version    string             `json:"version" doc:"Name of the version, such as prior-1 or v7"`
	Confidence string             `json:"confidence" enum:"prior,learning,learned"`
	InUse      bool               `json:"in_use" doc:"Whether scores are computed by this version"`
	Outcomes   int                `json:"outcomes" doc:"Won and lost deals used for training"`
	Won        int                `json:"won" doc:"Won deals among outcomes"`
	Metrics    map[string]float64 `json:"metrics"`
	Contest    *learn.Comparison  `json:"contest,omitempty"`
	CreatedAt  *wire.Time         `json:"created_at" format:"date-time"`
	PromotedAt *wire.Time         `json:"promoted_at" format:"date-time"`
}

// Descriptions implements wire.Describer.
func (ScoreModelSummary) Descriptions() map[string]string {
	return map[string]string{
		"metrics": "auc, log_loss, brier and ece on outcomes later than the training data, and their number; empty " +
			"below 200 outcomes",
		"contest": "Predictions of later outcomes compared with the version then in use; promoted if its log loss " +
			"was not higher",
		"confidence":  "prior: the shipped model; learning: the org's outcomes adjust it; learned: they dominate",
		"created_at":  "When the version was trained; null for the shipped prior",
		"promoted_at": "When scores were first computed by it; null: never",
	}
}

type scoreModel struct {
	ScoreModelSummary
	Intercept   float64                    `json:"intercept" doc:"Log odds of a contact without data"`
	Features    []scoreWeight              `json:"features" doc:"Weights of all values of all features"`
	Reliability []learn.CalibrationBin     `json:"reliability" doc:"Predicted and actual rates, by tenths"`
	Quarantined []learn.QuarantinedFeature `json:"quarantined" doc:"Features that leak the outcome and are not used"`
	Slope       float64                    `json:"slope" doc:"Slope of the calibration, in the weights; 1 is none"`
	LearnedFrom *wire.Time                 `json:"learned_from" format:"date-time" doc:"Creation of the oldest deal"`
	LearnedTo   *wire.Time                 `json:"learned_to" format:"date-time" doc:"Creation of the newest deal"`
}

type modelAnswer struct{ Body scoreModel }

type versionAnswer struct {
	httpx.Tagged
	Body scoreModel
}

func summaryOf(v *models.Version, inUse int) ScoreModelSummary {
	s := ScoreModelSummary{
		Version: models.Name(v.Number), Confidence: string(v.Model.Confidence),
		InUse: v.Number == inUse, Outcomes: v.Outcomes, Metrics: map[string]float64{}, PromotedAt: v.PromotedAt,
	}
	if r := v.Report; r != nil {
		s.Won = r.Won
		s.Contest = &r.Comparison
		s.CreatedAt = &v.CreatedAt
		if m := r.Metrics; m != nil {
			s.Metrics = map[string]float64{
				"auc": m.AUC, "log_loss": m.LogLoss, "brier": m.Brier, "ece": m.ECE,
				"count": float64(m.Count), "won": float64(m.Won),
			}
		}
	}

	return s
}

func showVersion(v *models.Version, inUse int) *modelAnswer {
	b := scoreModel{
		ScoreModelSummary: summaryOf(v, inUse), Intercept: v.Model.Intercept, Features: []scoreWeight{},
		Reliability: []learn.CalibrationBin{}, Quarantined: []learn.QuarantinedFeature{}, Slope: 1,
	}
	if r := v.Report; r != nil {
		b.Slope = r.Slope
		b.Quarantined = append(b.Quarantined, r.Quarantined...)
		b.Reliability = append(b.Reliability, r.Reliability...)
		from, to := wire.At(r.From), wire.At(r.To)
		b.LearnedFrom = &from
		b.LearnedTo = &to
		for _, w := range r.Weights {
			b.Features = append(b.Features, scoreWeight{string(w.Feature), w.Level, w.Weight, w.Prior, w.Count, w.Won})
		}
		return &modelAnswer{Body: b}
	}

	for _, f := range scoring.Features() {
		first := len(b.Features)
		for level, w := range v.Model.Weights[f] {
			b.Features = append(b.Features, scoreWeight{Feature: string(f), Value: level, Weight: w, Prior: w})
		}
		slices.SortFunc(b.Features[first:], func(x, y scoreWeight) int {
			return cmp.Or(cmp.Compare(y.Weight, x.Weight), cmp.Compare(x.Value, y.Value))
		})
	}

	return &modelAnswer{Body: b}
}

func (a *App) showScoreModel(ctx context.Context, _ *struct{}) (*modelAnswer, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*modelAnswer, error) {
		v, err := models.Current(ctx, tx)
		if err != nil {
			return nil, err
		}
		return showVersion(&v, v.Number), nil
	})
}

type scoreModelTrainingOut struct {
	Location string `header:"Location" doc:"Address of the training's progress"`
	Body     struct {
		Status   string `json:"status" enum:"queued"`
		Outcomes int    `json:"outcomes" doc:"Won and lost deals available for training"`
	}
}

// Descriptions implements wire.Describer.
func (scoreModelTrainingOut) Descriptions() map[string]string {
	return map[string]string{
		"status": "The training is a job; a new version appears if it is at least as good",
	}
}

func (a *App) trainScoreModel(ctx context.Context, _ *struct{}) (*scoreModelTrainingOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*scoreModelTrainingOut, error) {
		now, _, err := models.Grown(ctx, tx)
		if err != nil {
			return nil, err
		}
		out := &scoreModelTrainingOut{}
		out.Body.Status = "queued"
		out.Body.Outcomes = now
		out.Location = jobsPath + "/" + models.AskTraining(tx).String()
		args := scoretrain.Args{Anyway: true}
		return out, scoretrain.Kind.Add(ctx, tx, args, args.Ask()...)
	})
}

func (a *App) rollbackScoreModel(ctx context.Context, in *struct {
	Body struct {
		Version string `json:"version" maxLength:"20" doc:"Any existing version, including prior-1"`
	} `nameHint:"RollbackScoreModelRequest"`
},
) (*modelAnswer, error) {
	number, ok := models.Number(in.Body.Version)
	if !ok {
		return nil,
			fault.Invalid("version", "unknown_version",
				"There is no such version. GET /api/v1/ai/score-model/versions lists them.")
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*modelAnswer, error) {
		v, err := models.Use(ctx, tx, number)
		switch {
		case errors.Is(err, models.ErrSame):
			return showVersion(&v, number), nil
		case fault.Is(err, fault.NotFound):
			return nil,
				fault.Invalid("version", "unknown_version",
					"There is no such version. GET /api/v1/ai/score-model/versions lists them.")
		case err != nil:
			return nil, err
		}

		org.Audit(ctx, tx, org.Entry{Action: "score_model.rolled_back", Target: "score_model", ID: models.Name(number)})
		a.Scores.Forget(tx.Org())

		return showVersion(&v, number), leadrescore.Kind.Add(ctx, tx, leadrescore.Args{Version: models.Name(number)})
	})
}

type modelList struct{ Body httpx.List[ScoreModelSummary] }

func (a *App) listScoreModels(ctx context.Context, in *httpx.PageInput) (*modelList, error) {
	below, err := httpx.After[int](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}
	if below == nil {
		below = new(int)
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*modelList, error) {
		used, err := models.Current(ctx, tx)
		if err != nil {
			return nil, err
		}

		all, err := models.List(ctx, tx, *below, in.Limit+1)
		if err != nil {
			return nil, err
		}

		out := &modelList{}
		out.Body, err = httpx.NewList(ctx, a.Server, in.Page, all, func(v models.Version) ScoreModelSummary {
			return summaryOf(&v, used.Number)
		},
			func(v models.Version) int { return v.Number })
		if err == nil {
			err = in.Add(ctx, tx, &out.Body.Total, models.Count)
		}

		return out, err
	})
}

func (a *App) getScoreModel(ctx context.Context, in *struct {
	Version string `path:"version" maxLength:"20" doc:"Name of a version, as the list shows it"`
},
) (*versionAnswer, error) {
	number, ok := models.Number(in.Version)
	if !ok {
		return nil, fault.New(fault.NotFound, "There is no such version.")
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*versionAnswer, error) {
		used, err := models.Current(ctx, tx)
		if err != nil {
			return nil, err
		}

		v, err := models.Get(ctx, tx, number)
		if err != nil {
			return nil, err
		}

		shown := showVersion(&v, used.Number)
		tag, err := httpx.Digest(shown.Body)
		return &versionAnswer{tag, shown.Body}, err
	})
}
