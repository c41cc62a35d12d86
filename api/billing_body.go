package api

import (
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// changeOut is the outcome of a change request: 200, or 202 if the customer must confirm the payment.
type changeOut struct {
	Status int
	Body   planChangeResult
}

type planChangeResult struct {
	ID          *id.ID    `json:"id" format:"uuid" nullable:"true" doc:"The change; null if there was nothing to do"`
	Status      string    `json:"status" enum:"unchanged,applied,scheduled,action_required,undone"`
	Plan        string    `json:"plan" doc:"The requested plan; for a cancellation, the plan that ends"`
	Interval    string    `json:"interval" enum:"month,year" doc:"Billing interval of plan"`
	AmountDue   int64     `json:"amount_due" doc:"Amount charged, now or once the customer confirms; minor units"`
	Currency    string    `json:"currency" doc:"Currency of amount_due, ISO 4217"`
	EffectiveAt wire.Time `json:"effective_at" format:"date-time"`

	ClientSecret string     `json:"client_secret,omitempty" doc:"With action_required: secret to confirm the payment"`
	HostedURL    string     `json:"hosted_invoice_url,omitempty" doc:"With action_required: page to confirm it instead"`
	ExpiresAt    *wire.Time `json:"expires_at,omitempty" format:"date-time" doc:"With action_required: the deadline"`
}

// Descriptions implements wire.Describer.
func (planChangeResult) Descriptions() map[string]string {
	return map[string]string{
		"status": "Outcome. unchanged: already in effect; applied: in effect now; scheduled: in effect at " +
			"effective_at; action_required: the customer must confirm the payment; undone: a scheduled " +
			"change or cancellation was taken back",
		"effective_at": "When plan takes effect; for a cancellation, when the plan ends",
	}
}

func showAnswer(a *change.Answer) *changeOut {
	out := &changeOut{Status: http.StatusOK, Body: planChangeResult{
		Status: a.Status, Plan: a.Plan, Interval: a.Interval, AmountDue: a.AmountDue, Currency: a.Currency,
		EffectiveAt: wire.At(a.EffectiveAt),
	}}
	if a.Change != nil {
		out.Body.ID = &a.Change.ID
	}

	if a.Status == billing.ActionRequired {
		out.Status = http.StatusAccepted
		out.Body.ClientSecret = a.ClientSecret
		out.Body.HostedURL = a.HostedURL
		if a.Until != nil {
			until := wire.At(*a.Until)
			out.Body.ExpiresAt = &until
		}
	}

	return out
}

type planChangePreviewOut struct {
	Body struct {
		PreviewID     id.ID                   `json:"preview_id" format:"uuid"`
		AmountDue     int64                   `json:"amount_due"`
		Currency      string                  `json:"currency" doc:"Currency of all amounts, ISO 4217"`
		Lines         []planChangePreviewLine `json:"lines" nullable:"false"`
		ProrationDate wire.Time               `json:"proration_date" format:"date-time"`
		ExpiresAt     wire.Time               `json:"expires_at" format:"date-time"`
	}
}

// Descriptions implements wire.Describer.
func (planChangePreviewOut) Descriptions() map[string]string {
	return map[string]string{
		"preview_id":     "ID to send as preview_id with change-plan, so that exactly amount_due is charged",
		"amount_due":     "Charged now, in minor units; 0 for a credit or later start",
		"lines":          "Lines of the upcoming invoice: credits for unused time and prices of the new plan",
		"proration_date": "Time the amounts are computed for",
		"expires_at":     "When the preview can no longer be used for a change",
	}
}

type planChangePreviewLine struct {
	Description string    `json:"description" doc:"Text of the line as the invoice shows it"`
	Amount      int64     `json:"amount" doc:"Minor units; negative for a credit"`
	Proration   bool      `json:"proration" doc:"Whether it covers part of a period"`
	PeriodStart wire.Time `json:"period_start" format:"date-time" doc:"Start of the period that the line bills"`
	PeriodEnd   wire.Time `json:"period_end" format:"date-time" doc:"End of the period that the line bills"`
}

func showPreview(p *change.Preview) *planChangePreviewOut {
	out := &planChangePreviewOut{}
	b := &out.Body
	b.PreviewID = p.ID
	b.AmountDue = p.AmountDue
	b.Currency = p.Currency
	b.ProrationDate = wire.At(p.ProrationDate)
	b.ExpiresAt = wire.At(p.ExpiresAt)
	b.Lines = make([]planChangePreviewLine, len(p.Lines))
	for i, l := range p.Lines {
		b.Lines[i] = planChangePreviewLine{
			l.Description,
			l.Amount,
			l.Proration,
			wire.At(l.PeriodStart),
			wire.At(l.PeriodEnd),
		}
	}

	return out
}

// PlanChange is a stored plan change. It is exported because huma ignores the members of an unexported embedded type.
type PlanChange struct {
	ID           id.ID      `json:"id" format:"uuid" doc:"ID of the plan change"`
	Kind         string     `json:"kind" enum:"start,now,period_end,cancel"`
	Status       string     `json:"status" enum:"in_flight,action_required,scheduled,applied,failed,undone"`
	FromPlan     *string    `json:"from_plan" doc:"null without a previous subscription"`
	FromInterval *string    `json:"from_interval" enum:"month,year" doc:"null without a previous subscription"`
	Plan         *string    `json:"plan" doc:"Key of the requested plan; null for a cancellation"`
	Interval     *string    `json:"interval" enum:"month,year" doc:"Billing interval of plan; null for a cancellation"`
	AmountDue    int64      `json:"amount_due" doc:"Amount that the change charges, in minor units of currency"`
	Currency     string     `json:"currency" doc:"Currency of amount_due, ISO 4217"`
	Failure      *string    `json:"failure" doc:"Reason of failure, or the superseding change; null otherwise"`
	PreviewID    *id.ID     `json:"preview_id" format:"uuid" nullable:"true" doc:"The preview; null for a cancellation"`
	InvoiceID    *string    `json:"invoice_id" doc:"ID at the payment processor; null without an invoice"`
	EffectiveAt  *wire.Time `json:"effective_at" format:"date-time"`
	CreatedAt    wire.Time  `json:"created_at" format:"date-time" doc:"When the change was requested"`
	UpdatedAt    wire.Time  `json:"updated_at" format:"date-time" doc:"When status last changed"`
}

// Descriptions implements wire.Describer.
func (PlanChange) Descriptions() map[string]string {
	return map[string]string{
		"kind": "start: first plan; now: at once; period_end: at the end of the paid period; cancel: end of " +
			"the subscription",
		"status": "in_flight: being executed; action_required: waits for the customer's confirmation; " +
			"scheduled: waits for effective_at; applied, failed and undone are final",
		"effective_at": "When the change takes or took effect; null until known",
	}
}

func showChange(c *billing.Change) PlanChange {
	out := PlanChange{
		ID: c.ID, Kind: c.Kind, Status: c.State,
		FromPlan: stringOrNil(c.FromPlan), FromInterval: stringOrNil(c.FromInterval),
		Plan: stringOrNil(c.ToPlan), Interval: stringOrNil(c.ToInterval),
		AmountDue: c.AmountDue, Currency: c.Currency, Failure: stringOrNil(c.Failure), PreviewID: c.Preview,
		InvoiceID: stringOrNil(c.Invoice),
		CreatedAt: wire.At(c.CreatedAt), UpdatedAt: wire.At(c.UpdatedAt),
	}
	if c.EffectiveAt != nil {
		at := wire.At(*c.EffectiveAt)
		out.EffectiveAt = &at
	}

	return out
}

// stringOrNil returns a pointer to s, or nil if s is empty.
func stringOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

type planChangeDetailOut struct {
	httpx.Tagged
	Body struct {
		PlanChange
		Timeline []planChangeStep `json:"timeline" nullable:"false" doc:"Oldest first"`
	}
}

type planChangeStep struct {
	Event     string         `json:"event" doc:"requested, or the new status"`
	Detail    map[string]any `json:"detail" nullable:"false"`
	CreatedAt wire.Time      `json:"created_at" format:"date-time" doc:"When the step happened"`
}

// Descriptions implements wire.Describer.
func (planChangeStep) Descriptions() map[string]string {
	return map[string]string{
		"detail": "Further facts of this step; its members depend on event and may be empty",
	}
}

type subscriptionOut struct {
	httpx.Tagged
	Body billingSubscription
}

type billingSubscription struct {
	Plan               string       `json:"plan" doc:"Key of the plan in effect; trial during the trial"`
	Interval           *string      `json:"interval" enum:"month,year" doc:"null without a paid plan"`
	Status             plans.Status `json:"status" enum:"trialing,active,past_due,incomplete,unpaid,canceled,paused"`
	CancelAtPeriodEnd  bool         `json:"cancel_at_period_end"`
	CurrentPeriodStart *wire.Time   `json:"current_period_start" format:"date-time"`
	CurrentPeriodEnd   *wire.Time   `json:"current_period_end" format:"date-time"`
	TrialEndsAt        *wire.Time   `json:"trial_ends_at" format:"date-time" doc:"null: no trial, or one without end"`
	EntitlementVersion int64        `json:"entitlement_version"`
	OpenChange         *PlanChange  `json:"open_change,omitempty" doc:"In flight or waiting for the customer, if any"`
	ScheduledChange    *PlanChange  `json:"scheduled_change,omitempty" doc:"Change at the end of the period, if any"`
}

// Descriptions implements wire.Describer.
func (billingSubscription) Descriptions() map[string]string {
	return map[string]string{
		"status": "State of the subscription. past_due and unpaid: an invoice is open; incomplete: the first " +
			"payment is open",
		"cancel_at_period_end": "Whether the subscription ends at current_period_end",
		"current_period_start": "Start of the paid period; null without a paid plan",
		"current_period_end":   "End of the paid period; null without a paid plan",
		"entitlement_version": "Version of the org's entitlements, as in my-entitlements; increases with every " +
			"change of them",
	}
}

func showSubscription(s *billing.Subscription) *subscriptionOut {
	out := &subscriptionOut{Tagged: httpx.ETag(s.Rights.Version, s.Moved), Body: billingSubscription{
		Plan: s.Rights.Plan, Interval: stringOrNil(s.Rights.Interval), Status: s.Rights.Status,
		CancelAtPeriodEnd:  s.Rights.CancelAtPeriodEnd,
		CurrentPeriodStart: s.Rights.PeriodStart, CurrentPeriodEnd: s.Rights.PeriodEnd,
		TrialEndsAt: s.Rights.TrialEnds, EntitlementVersion: s.Rights.Version,
	}}
	if s.Open != nil {
		c := showChange(s.Open)
		out.Body.OpenChange = &c
	}
	if s.Scheduled != nil {
		c := showChange(s.Scheduled)
		out.Body.ScheduledChange = &c
	}

	return out
}

type portalLinkOut struct {
	Body struct {
		URL string `json:"url" format:"uri" doc:"For a single visit; expires soon"`
	}
}

func showTimeline(c *billing.Change, steps []billing.Step) *planChangeDetailOut {
	out := &planChangeDetailOut{Tagged: httpx.ETag(len(steps), 0)}
	out.Body.PlanChange = showChange(c)
	out.Body.Timeline = make([]planChangeStep, len(steps))
	for i, s := range steps {
		out.Body.Timeline[i] = planChangeStep{s.Event, s.Detail, wire.At(s.At)}
	}
	return out
}
