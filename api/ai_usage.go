package api

import (
	"context"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

type monthlyAIUsageOut struct {
	Body struct {
		Period     string              `json:"period" doc:"The month, YYYY-MM, UTC"`
		ResetsAt   wire.Time           `json:"resets_at" format:"date-time"`
		Limit      *int64              `json:"limit" doc:"Tokens per month; null: no limit"`
		Used       int64               `json:"used" doc:"Tokens charged"`
		Reserved   int64               `json:"reserved" doc:"Tokens reserved for requests in progress"`
		Remaining  *int64              `json:"remaining" doc:"null: no limit"`
		PerMinute  int64               `json:"per_minute" doc:"Tokens per minute"`
		Operations []ai.OperationUsage `json:"operations" nullable:"false"`
	}
}

// Descriptions implements wire.Describer.
func (monthlyAIUsageOut) Descriptions() map[string]string {
	return map[string]string{
		"resets_at":  "Start of the next month in UTC, when used returns to 0",
		"operations": "Requests and tokens of this month, one entry per operation that was used",
	}
}

func (a *App) aiUsage(ctx context.Context, _ *struct{}) (*monthlyAIUsageOut, error) {
	now, err := a.Plans.Of(ctx, httpx.Who(ctx).Org)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*monthlyAIUsageOut, error) {
		m, err := ai.ThisMonth(ctx, tx)
		if err != nil {
			return nil, err
		}

		out := &monthlyAIUsageOut{}
		b := &out.Body
		b.Period = m.Period.Format("2006-01")
		b.ResetsAt = wire.At(m.Resets())
		b.Used = m.Used
		b.Reserved = m.Reserved
		b.PerMinute = a.AIPerMinute
		if most := now.Features[plans.AITokens].Value.Max; most != plans.Unlimited {
			left := max(0, most-m.Used-m.Reserved)
			b.Limit = &most
			b.Remaining = &left
		}

		b.Operations, err = ai.ByOperation(ctx, tx)
		if b.Operations == nil {
			b.Operations = []ai.OperationUsage{}
		}

		return out, err
	})
}
