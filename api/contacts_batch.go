package api

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
)

type contactBatch struct{ Body contactRows }

// batchRowError is the error of one row. Its members are those of a problem.
type batchRowError struct {
	Code       string             `json:"code" doc:"Code of the error, one of those that a problem may have"`
	Detail     string             `json:"detail" doc:"What is wrong with the row and what to do about it, for people"`
	Errors     []fault.FieldError `json:"errors,omitempty"`
	ExistingID string             `json:"existing_id,omitempty" format:"uuid"`
	Limit      *int64             `json:"limit,omitempty" doc:"With plan_limit_reached: the limit"`
	Used       *int64             `json:"used,omitempty" doc:"With plan_limit_reached: the usage"`
	UpgradeTo  string             `json:"upgrade_to,omitempty"`
}

// Descriptions implements wire.Describer.
func (batchRowError) Descriptions() map[string]string {
	return map[string]string{
		"errors":      "The invalid members of the row; pointers begin at the row's array",
		"existing_id": "With contact_exists and other conflicts: ID of the row that is in the way",
		"upgrade_to":  "With plan_limit_reached: key of the next plan with a higher limit",
	}
}

// contactBatchResult is the outcome of one row.
type contactBatchResult struct {
	Index     int            `json:"index" doc:"Index of the row in the request, from 0"`
	ID        *id.ID         `json:"id" format:"uuid" nullable:"true" doc:"null if the row is invalid"`
	Result    string         `json:"result" enum:"created,updated,unchanged,error"`
	LeadScore *float64       `json:"lead_score" doc:"null if the row is invalid"`
	Error     *batchRowError `json:"error,omitempty" doc:"Why the row failed; absent for any other result"`
}

// Descriptions implements wire.Describer.
func (contactBatchResult) Descriptions() map[string]string {
	return map[string]string{
		"result": "created, updated, unchanged (the row changed nothing) or error (see error)",
	}
}

type contactBatchResultsOut struct {
	Body struct {
		Data []contactBatchResult `json:"data" doc:"One per row, in the order sent"`
	}
}

func (a *App) batchContacts(ctx context.Context, in *contactBatch) (*contactBatchResultsOut, error) {
	rows, err := a.contactUpserts(&in.Body)
	if err != nil {
		return nil, err
	}

	var out *contactBatchResultsOut
	for range roomTries {
		out, err = a.upsertContacts(ctx, rows)
		if a.Plans.Refused(err) == nil {
			break
		}
	}

	return out, err
}

// roomTries is the number of attempts of a batch, since concurrent requests may use up the room under the limit that it
// has read.
const roomTries = 4

func (a *App) upsertContacts(ctx context.Context, rows []contacts.Upsert) (*contactBatchResultsOut, error) {
	return writeScored(ctx, a, func(model *scoring.Model, tx *postgres.Tx) (*contactBatchResultsOut, error) {
		space, err := a.Plans.Room(ctx, tx, plans.Contacts)
		if err != nil {
			return nil, err
		}

		outcomes, made, altered, err := contacts.UpsertWithin(ctx, tx, rows, model.Rate,
			&contacts.Room{Left: space.Left, Full: space.Full})
		if err != nil {
			return nil, err
		}
		if err := announceBatch(ctx, tx, made, altered); err != nil {
			return nil, err
		}

		out := &contactBatchResultsOut{}
		out.Body.Data = make([]contactBatchResult, len(outcomes))
		for i := range outcomes {
			out.Body.Data[i] = showOutcome(i, &outcomes[i])
		}

		return out, nil
	})
}

// announceBatch announces each changed contact once, and enqueues scoring of the altered ones if the change affects the
// score. A new contact has no history from which the scoring job could refine its score.
func announceBatch(ctx context.Context, tx *postgres.Tx, made, altered []contacts.Change) error {
	var score []id.ID
	for i := range made {
		if err := contacts.Announce(ctx, tx, &made[i]); err != nil {
			return err
		}
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

func showOutcome(index int, o *contacts.Outcome) contactBatchResult {
	r := contactBatchResult{Index: index, Result: o.Result}
	if o.Fault != nil {
		r.Error = &batchRowError{
			Code: string(o.Fault.Code), Detail: o.Fault.Detail, Errors: o.Fault.Fields,
			ExistingID: o.Fault.ExistingID,
		}
		if limit, ok := o.Fault.More["limit"].(int64); ok {
			used, _ := o.Fault.More["used"].(int64)
			r.Error.Limit = &limit
			r.Error.Used = &used
			r.Error.UpgradeTo, _ = o.Fault.More["upgrade_to"].(string)
		}
		return r
	}

	r.ID = &o.ID
	r.LeadScore = &o.LeadScore

	return r
}
