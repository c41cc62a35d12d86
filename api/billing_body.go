package api

import (
	"net/http"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// changeOut is what became of a request: 200, or 202 where the customer has to confirm the payment.
type changeOut struct {
	Status int
	Body   changeAnswer
}

type changeAnswer struct {
	ID          *id.ID    `json:"id" format:"uuid" nullable:"true" doc:"The change; null where nothing had to be done"`
	Status      string    `json:"status" enum:"unchanged,applied,scheduled,action_required,undone"`
	Plan        string    `json:"plan" doc:"What was asked for; of a cancellation, what ends"`
	Interval    string    `json:"interval" enum:"month,year"`
	AmountDue   int64     `json:"amount_due" doc:"What was charged, or will be once the customer confirms; minor units"`
	Currency    string    `json:"currency" doc:"ISO 4217"`
	EffectiveAt wire.Time `json:"effective_at" format:"date-time"`

	ClientSecret string     `json:"client_secret,omitempty" doc:"With action_required: what the customer's browser confirms the payment with"`
	HostedURL    string     `json:"hosted_invoice_url,omitempty" doc:"With action_required: a page where the customer can confirm it as well"`
	ExpiresAt    *wire.Time `json:"expires_at,omitempty" format:"date-time" doc:"With action_required: until when"`
}

func showAnswer(a *billing.Answer) *changeOut {
	out := &changeOut{Status: http.StatusOK, Body: changeAnswer{
		Status: a.Status, Plan: a.Plan, Interval: a.Interval, AmountDue: a.AmountDue, Currency: a.Currency, EffectiveAt: wire.At(a.EffectiveAt),
	}}
	if a.Change != nil {
		out.Body.ID = &a.Change.ID
	}
	if a.Status == billing.ActionRequired {
		out.Status = http.StatusAccepted
		out.Body.ClientSecret, out.Body.HostedURL = a.ClientSecret, a.HostedURL
		if a.Until != nil {
			until := wire.At(*a.Until)
			out.Body.ExpiresAt = &until
		}
	}
	return out
}

type previewOut struct {
	Body struct {
		PreviewID     id.ID         `json:"preview_id" format:"uuid"`
		AmountDue     int64         `json:"amount_due" doc:"What is charged at once, in minor units; 0 for a credit, and for what begins later"`
		Currency      string        `json:"currency" doc:"ISO 4217"`
		Lines         []previewLine `json:"lines" nullable:"false"`
		ProrationDate wire.Time     `json:"proration_date" format:"date-time" doc:"The moment that it is reckoned for"`
		ExpiresAt     wire.Time     `json:"expires_at" format:"date-time"`
	}
}

type previewLine struct {
	Description string    `json:"description"`
	Amount      int64     `json:"amount" doc:"Minor units; less than 0 for a credit"`
	Proration   bool      `json:"proration" doc:"For a part of a period"`
	PeriodStart wire.Time `json:"period_start" format:"date-time"`
	PeriodEnd   wire.Time `json:"period_end" format:"date-time"`
}

func showPreview(p *billing.Preview) *previewOut {
	out := &previewOut{}
	b := &out.Body
	b.PreviewID, b.AmountDue, b.Currency, b.ProrationDate, b.ExpiresAt = p.ID, p.AmountDue, p.Currency, wire.At(p.ProrationDate), wire.At(p.ExpiresAt)
	b.Lines = make([]previewLine, len(p.Lines))
	for i, l := range p.Lines {
		b.Lines[i] = previewLine{l.Description, l.Amount, l.Proration, wire.At(l.PeriodStart), wire.At(l.PeriodEnd)}
	}
	return out
}

// PlanChange is a change as it is kept. It is exported because huma sees no members of an embedded type that is not.
type PlanChange struct {
	ID           id.ID      `json:"id" format:"uuid"`
	Kind         string     `json:"kind" enum:"start,now,period_end,cancel"`
	Status       string     `json:"status" enum:"in_flight,action_required,scheduled,applied,failed,undone"`
	FromPlan     *string    `json:"from_plan" doc:"null from no subscription"`
	FromInterval *string    `json:"from_interval" enum:"month,year" doc:"null from no subscription"`
	Plan         *string    `json:"plan" doc:"null to none"`
	Interval     *string    `json:"interval" enum:"month,year" doc:"null to none"`
	AmountDue    int64      `json:"amount_due" doc:"Minor units"`
	Currency     string     `json:"currency" doc:"ISO 4217"`
	Failure      *string    `json:"failure" doc:"Why it failed, or what superseded it; null otherwise"`
	PreviewID    *id.ID     `json:"preview_id" format:"uuid" nullable:"true" doc:"What it went by; null of a cancellation"`
	InvoiceID    *string    `json:"invoice_id" doc:"The payment processor's; null without one"`
	EffectiveAt  *wire.Time `json:"effective_at" format:"date-time" doc:"null as long as it is not known"`
	CreatedAt    wire.Time  `json:"created_at" format:"date-time"`
	UpdatedAt    wire.Time  `json:"updated_at" format:"date-time"`
}

func showChange(c *billing.Change) PlanChange {
	out := PlanChange{
		ID: c.ID, Kind: c.Kind, Status: c.State, FromPlan: word(c.FromPlan), FromInterval: word(c.FromInterval), Plan: word(c.ToPlan), Interval: word(c.ToInterval),
		AmountDue: c.AmountDue, Currency: c.Currency, Failure: word(c.Failure), PreviewID: c.Preview, InvoiceID: word(c.Invoice),
		CreatedAt: wire.At(c.CreatedAt), UpdatedAt: wire.At(c.UpdatedAt),
	}
	if c.EffectiveAt != nil {
		at := wire.At(*c.EffectiveAt)
		out.EffectiveAt = &at
	}
	return out
}

// word is s, null where it is empty.
func word(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

type timelineOut struct {
	Tagged
	Body struct {
		PlanChange
		Timeline []changeStep `json:"timeline" nullable:"false" doc:"Oldest first"`
	}
}

type changeStep struct {
	Event     string         `json:"event" doc:"requested, or the status that it came to"`
	Detail    map[string]any `json:"detail" nullable:"false"`
	CreatedAt wire.Time      `json:"created_at" format:"date-time"`
}

type subscriptionOut struct {
	Tagged
	Body subscriptionBody
}

type subscriptionBody struct {
	Plan               string       `json:"plan"`
	Interval           *string      `json:"interval" enum:"month,year" doc:"null while nothing is paid"`
	Status             plans.Status `json:"status" enum:"trialing,active,past_due,incomplete,unpaid,canceled,paused"`
	CancelAtPeriodEnd  bool         `json:"cancel_at_period_end"`
	CurrentPeriodStart *wire.Time   `json:"current_period_start" format:"date-time" doc:"null while nothing is paid"`
	CurrentPeriodEnd   *wire.Time   `json:"current_period_end" format:"date-time" doc:"null while nothing is paid"`
	TrialEndsAt        *wire.Time   `json:"trial_ends_at" format:"date-time" doc:"null for a trial without end, and without a trial"`
	EntitlementVersion int64        `json:"entitlement_version"`
	OpenChange         *PlanChange  `json:"open_change,omitempty" doc:"A change that is in flight or waits for the customer, where there is one"`
	ScheduledChange    *PlanChange  `json:"scheduled_change,omitempty" doc:"A change that takes effect at the end of the period, where there is one"`
}

func showSubscription(s *billing.Subscription) *subscriptionOut {
	out := &subscriptionOut{Tagged: etag(s.Rights.Version, s.Moved), Body: subscriptionBody{
		Plan: s.Rights.Plan, Interval: word(s.Rights.Interval), Status: s.Rights.Status, CancelAtPeriodEnd: s.Rights.CancelAtPeriodEnd,
		CurrentPeriodStart: s.Rights.PeriodStart, CurrentPeriodEnd: s.Rights.PeriodEnd, TrialEndsAt: s.Rights.TrialEnds, EntitlementVersion: s.Rights.Version,
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

type portalOut struct {
	Body struct {
		URL string `json:"url" format:"uri" doc:"For one visit, soon"`
	}
}

func showTimeline(c *billing.Change, steps []billing.Step) *timelineOut {
	out := &timelineOut{Tagged: etag(len(steps), 0)}
	out.Body.PlanChange = showChange(c)
	out.Body.Timeline = make([]changeStep, len(steps))
	for i, s := range steps {
		out.Body.Timeline[i] = changeStep{s.Event, s.Detail, wire.At(s.At)}
	}
	return out
}
