package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/learn"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Learned is the result of a training, not stored yet. Model is nil if there were not enough outcomes.
type Learned struct {
	Model    *scoring.Model
	Report   *learn.Report
	outcomes int
	rival    int // number of the version compared with
}

// Learn trains a model on the org's outcomes. It reads in one transaction and writes nothing. With many outcomes it
// takes seconds, and it holds no connection while it computes. tx may call the function that it is given twice.
func Learn(ctx context.Context, tx func(func(*postgres.Tx) error) error) (Learned, error) {
	var (
		ex   []learn.Example
		used Version
	)
	if err := tx(func(tx *postgres.Tx) (err error) {
		if used, err = Current(ctx, tx); err != nil {
			return err
		}
		ex, err = Examples(ctx, tx)
		return err
	}); err != nil {
		return Learned{}, err
	}

	m, r, err := learn.Train(ctx, "new", ex, scoring.Shipped(),
		learn.Incumbent{Model: used.Model, Seen: used.LearnedTo})
	if errors.Is(err, learn.ErrTooFew) {
		return Learned{outcomes: len(ex)}, nil
	}
	if err != nil {
		return Learned{}, fmt.Errorf("learn: %w", err)
	}

	return Learned{Model: m, Report: r, outcomes: len(ex), rival: used.Number}, nil
}

// Save stores l as the org's next version and puts it into use if it won the comparison. If another version has gone
// into use since, Save only stores it, because the comparison was made with a different version. promoted is the
// version that Save put into use, or nil.
func (l *Learned) Save(ctx context.Context, tx *postgres.Tx) (promoted *Version, err error) {
	inUse, err := lockCurrent(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("lock the model in use: %w", err)
	}

	now := wire.Now()
	tx.Queue(`UPDATE score_current SET trained = $2, trained_at = $3 WHERE org_id = $1`, tx.Org(), l.outcomes, now)
	if l.Model == nil {
		return nil, nil //nolint:nilnil // nothing was learned
	}

	v := &Version{CreatedAt: now, LearnedTo: l.Report.To, Outcomes: l.Report.Outcomes, Model: l.Model, Report: l.Report}
	if err := tx.QueryRow(ctx, `SELECT coalesce(max(number), 0) + 1 FROM score_model WHERE org_id = $1`,
		[]any{tx.Org()}, &v.Number); err != nil {
		return nil, fmt.Errorf("assign version number: %w", err)
	}

	v.Model.Version = Name(v.Number)
	if l.Report.Comparison.Won() && inUse == l.rival {
		v.PromotedAt = &now
		queueChange(tx, v.Number)
		promoted = v
	}
	model, err := json.Marshal(v.Model)
	if err != nil {
		return nil, fmt.Errorf("encode model: %w", err)
	}

	report, err := json.Marshal(v.Report)
	if err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}

	tx.Queue(`INSERT INTO score_model (org_id, `+versionColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		tx.Org(), v.Number, v.CreatedAt, v.PromotedAt, v.LearnedTo, v.Outcomes, model, report)
	return promoted, nil
}
