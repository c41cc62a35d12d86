package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/command/demo/plan"
	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// changeDeals creates, moves and closes deals, in the order of the actions.
func (c *chunk) changeDeals(ctx context.Context) error {
	actions := c.by[plan.CreateDeal]
	if len(actions) == 0 {
		return nil
	}

	rows := make([]deals.Upsert, len(actions))
	for i, a := range actions {
		rows[i] = c.dealRow(a)
	}

	outcomes, changed, err := deals.UpsertAll(ctx, c.tx, rows)
	if err != nil {
		return fmt.Errorf("write deals: %w", err)
	}

	last := map[id.ID]time.Time{}
	for i := range outcomes {
		switch o := &outcomes[i]; o.Result {
		case record.Failed:
			return rowError("deal "+rows[i].Name.Value+rows[i].ID.Value, o.Result, o.Fault)
		case record.Unchanged: // the pipeline has fewer stages than the plan
		default: // changed has one element for each of these
			ch := &changed[0]
			a := actions[i]
			changed = changed[1:]
			ch.Value.UpdatedAt = wire.At(a.At)
			last[ch.Value.ID] = a.At
			c.addEvents(a, c.userOrigin(a.Of), deals.Events(ch))
		}
	}

	var (
		ids []id.ID
		at  []time.Time
	)

	for deal, t := range last {
		ids = append(ids, deal)
		at = append(at, t)
	}

	deals.SetUpdated(c.tx, ids, at)

	return nil
}

// dealRow returns the row of a batch that an action is.
func (c *chunk) dealRow(a numbered) (u deals.Upsert) {
	of := &c.plan.Deals[a.Of]
	pipeline := c.sales[0]
	if of.Renewal {
		pipeline = c.sales[1]
	}
	if a.Kind != plan.CreateDeal {
		u.ID = textField(c.dealID(a.Of).String())
	}

	switch a.Kind {
	case plan.CreateDeal:
		contact := &c.plan.Contacts[of.Contact]
		u.NewID = c.dealID(a.Of)
		u.Name, u.ContactID = textField(of.Name), textField(c.contactID(of.Contact).String())
		u.OwnerID = textField(c.ownerID(a.Of).String())
		if contact.Company != plan.None {
			u.CompanyID = textField(c.companyID(contact.Company).String())
		}
		u.PipelineID = textField(pipeline.ID.String())
		u.Amount = wire.Some(of.Amount)
		u.Currency = textField(of.Currency)
		u.ExpectedCloseOn, u.CreatedAt = textField(of.Expected.Format(time.DateOnly)), textField(wire.At(a.At).String())
	case plan.MoveDeal:
		u.StageID = textField(openStage(pipeline, a.Step).String())
	default:
		u.Status = textField(deals.Lost)
		u.ClosedAt = textField(wire.At(a.At).String())
		u.LostReason = textField(a.Reason)
		if a.Won {
			u.Status = textField(deals.Won)
		}
	}

	return u
}

// openStage returns the n'th open stage of the pipeline, or the last one if there are fewer.
func openStage(p *deals.Pipeline, n int) (stage id.ID) {
	for i := range p.Stages {
		if s := &p.Stages[i]; s.Kind == deals.Open && n >= 0 {
			stage = s.ID
			n--
		}
	}
	return stage
}
