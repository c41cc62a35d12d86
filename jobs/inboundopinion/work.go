package inboundopinion

import (
	"context"
	"log/slog"
	"time"

	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// patience limits the time of a call to the model.
const patience = 20 * time.Second

// Job has the dependencies of the work.
type Job struct {
	App     *postgres.DB
	AI      ai.Provider // nil: there are no opinions
	Plans   *plans.Service
	Inbound *inbound.Service
	Log     *slog.Logger
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work asks the model and settles the class by its opinion. Tokens are reserved before the call and charged with the
// opinion, in one transaction; a call without a usable answer costs nothing.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	if j.AI == nil {
		return nil
	}

	question := &ai.Ask{Task: "Classify the reply."}
	err := j.App.ReadTx(ctx, run.Org, func(tx *postgres.Tx) (err error) {
		question.Text, err = inbound.Question(ctx, tx, run.Args.Message)
		return err
	})
	if err != nil || question.Text == "" {
		return err
	}

	rights, err := j.Plans.Of(ctx, run.Org)
	if err != nil || !rights.Has(plans.AITokens) {
		return err
	}
	if err := run.BeginCall("ai"); err != nil {
		return err
	}

	call, err := ai.Classify.Call(*question)
	if err != nil {
		return err
	}

	hold, err := j.reserveTokens(ctx, run, &call, min(rights.Features[plans.AITokens].Value.Max, ai.Unlimited))
	switch f := fault.Of(err); {
	case f != nil && (f.Code == fault.AIQuotaExhausted || f.Code == fault.AIRequestTooLarge):
		return nil
	case err != nil: // also while too many calls are in flight: the job is tried again
		return err
	}

	return j.askModel(ctx, run, hold, &call, question)
}

// reserveTokens reserves the tokens of a call.
func (j Job) reserveTokens(ctx context.Context, run *queue.Run[Args], call *ai.Call, limit int64) (hold id.ID,
	err error,
) {
	err = j.App.Tx(ctx, run.Org, func(tx *postgres.Tx) error {
		r, err := ai.Reserve(ctx, tx, ai.Want{
			Operation: call.Name, Estimate: call.Estimate(), Limit: limit, Timeout: patience,
			RequestID: run.ID.String(),
		})
		hold = r.ID
		return err
	})
	return hold, err
}

func (j Job) askModel(ctx context.Context, run *queue.Run[Args], hold id.ID, call *ai.Call, question *ai.Ask) error {
	asking, cancel := context.WithTimeout(ctx, patience)
	reply, err := j.AI.Complete(asking, *call)
	cancel()
	var opinion *ai.Classified
	if err == nil {
		opinion, err = ai.Read[ai.Classified](reply.Text, *question)
	}
	used := reply.Usage.TotalTokens
	switch {
	case err != nil:
		used = 0
	case used <= 0: // no usage reported: charge the estimate
		used = call.Estimate()
	}
	// The worker may be stopping; the reservation is settled anyway.
	settled := j.App.Tx(context.WithoutCancel(ctx), run.Org, func(tx *postgres.Tx) error {
		if err := ai.Settle(ctx, tx, hold, used); err != nil || opinion == nil {
			return err
		}
		return j.Inbound.Opine(ctx, tx, run.Args.Message, opinion.Label, opinion.Confidence)
	})
	switch {
	case settled != nil:
		return settled
	case err != nil && run.Attempt >= attempts:
		j.Log.WarnContext(ctx, "no second opinion on a mail", "message_id", run.Args.Message)
		return nil // the mail stays what the rules have said
	}

	return err
}
