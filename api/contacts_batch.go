package api

import (
	"context"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
)

type contactBatch struct{ Body contactRows }

// rowError is the error of one row. Its members are those of a problem.
type rowError struct {
	Code       string        `json:"code"`
	Detail     string        `json:"detail"`
	Errors     []fault.Field `json:"errors,omitempty"`
	ExistingID string        `json:"existing_id,omitempty" format:"uuid"`
	Limit      *int64        `json:"limit,omitempty" doc:"With plan_limit_reached: the limit"`
	Used       *int64        `json:"used,omitempty" doc:"With plan_limit_reached: the usage"`
	UpgradeTo  string        `json:"upgrade_to,omitempty" doc:"The next plan with a higher limit"`
}

// batchResult is the outcome of one row.
type batchResult struct {
	Index     int       `json:"index" doc:"Index of the row in the request, from 0"`
	ID        *id.ID    `json:"id" format:"uuid" nullable:"true" doc:"null if the row is invalid"`
	Result    string    `json:"result" enum:"created,updated,unchanged,error"`
	LeadScore *float64  `json:"lead_score" doc:"null if the row is invalid"`
	Error     *rowError `json:"error,omitempty"`
}

type batchAnswer struct {
	Body struct {
		Data []batchResult `json:"data" doc:"One per row, in the order sent"`
	}
}

func (a *App) batchContacts(ctx context.Context, in *contactBatch) (*batchAnswer, error) {
	rows, err := a.rows(&in.Body)
	if err != nil {
		return nil, err
	}
	var out *batchAnswer
	for range roomTries {
		out, err = a.upsert(ctx, rows)
		if a.Plans.Refused(err) == nil {
			break
		}
	}
	return out, err
}

// roomTries is the number of attempts of a batch, since concurrent requests may use up the room under the limit that it
// has read.
const roomTries = 4

func (a *App) upsert(ctx context.Context, rows []contacts.Upsert) (*batchAnswer, error) {
	rate := a.rate(ctx)
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*batchAnswer, error) {
		space, err := a.Plans.Room(ctx, tx, plans.Contacts)
		if err != nil {
			return nil, err
		}
		outcomes, made, altered, err := contacts.UpsertWithin(ctx, tx, rows, rate,
			&contacts.Room{Left: space.Left, Full: space.Full})
		if err != nil {
			return nil, err
		}
		if err := announceBatch(ctx, tx, made, altered); err != nil {
			return nil, err
		}
		out := &batchAnswer{}
		out.Body.Data = make([]batchResult, len(outcomes))
		for i := range outcomes {
			out.Body.Data[i] = showOutcome(i, &outcomes[i])
		}
		return out, nil
	})
}

// announceBatch announces each changed contact once and enqueues scoring if the change affects the score.
func announceBatch(ctx context.Context, tx *postgres.Tx, made, altered []contacts.Change) error {
	var score []id.ID
	for i := range made {
		if err := contacts.Announce(ctx, tx, &made[i]); err != nil {
			return err
		}
		score = append(score, made[i].ID)
	}
	for i := range altered {
		if err := contacts.Announce(ctx, tx, &altered[i]); err != nil {
			return err
		}
		if scoring.Differs(altered[i].Before(), &altered[i].Contact) {
			score = append(score, altered[i].ID)
		}
	}
	return enqueueScoring(ctx, tx, score...)
}

func showOutcome(index int, o *contacts.Outcome) batchResult {
	r := batchResult{Index: index, Result: o.Result}
	if o.Fault != nil {
		r.Error = &rowError{
			Code: string(o.Fault.Code), Detail: o.Fault.Detail, Errors: o.Fault.Fields,
			ExistingID: o.Fault.ExistingID,
		}
		if limit, ok := o.Fault.More["limit"].(int64); ok {
			used, _ := o.Fault.More["used"].(int64)
			r.Error.Limit, r.Error.Used = &limit, &used
			r.Error.UpgradeTo, _ = o.Fault.More["upgrade_to"].(string)
		}
		return r
	}
	r.ID, r.LeadScore = &o.ID, &o.LeadScore
	return r
}
