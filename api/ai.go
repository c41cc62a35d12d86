package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const aiPath = "/api/v1/ai"

// DefaultAITime is what a call to the provider may take: less than a request of ours, so that the answer to a lost one is ours.
const DefaultAITime = 14 * time.Second

// DefaultAIPerMinute is how many tokens an org may spend in a minute.
const DefaultAIPerMinute = 50_000

func (a *App) mountAI() {
	const tag = "AI"
	may := []int{http.StatusPaymentRequired, http.StatusTooManyRequests, http.StatusServiceUnavailable}
	route(a, op{Method: http.MethodPost, Path: aiPath + "/draft-email", Need: member, Part: PartAI, Tag: tag, Title: "Draft an email to a contact; nothing is sent", May: may}, a.draftEmail)
	route(a, op{Method: http.MethodPost, Path: aiPath + "/summarize-contact", Need: member, Part: PartAI, Tag: tag, Title: "Sum up a contact", May: may}, a.summarizeContact)
	route(a, op{Method: http.MethodPost, Path: aiPath + "/next-action", Need: member, Part: PartAI, Tag: tag, Title: "Name the next action for a contact", May: may}, a.nextAction)
	route(a, op{Method: http.MethodPost, Path: aiPath + "/classify-reply", Need: member, Part: PartAI, Tag: tag, Title: "Say what a reply means", May: may}, a.classifyReply)
	route(a, op{Method: http.MethodGet, Path: aiPath + "/usage", Need: viewer, Tag: tag, Title: "The month's tokens"}, a.aiUsage)
}

// Spending are the headers of an answer that has cost tokens.
type Spending struct {
	Policy string `header:"RateLimit-Policy" doc:"The two buckets, in tokens"`
	Rate   string `header:"RateLimit" doc:"The tighter bucket: what is left and when it grows"`
	Used   string `header:"X-AI-Tokens-Used" doc:"What this request was charged"`
}

// consulted is an answer with what it has cost.
type consulted[A any] struct {
	answer *A
	usage  ai.Usage
	spent  Spending
}

// consult asks the provider and charges for its answer. Tokens are reserved before the call, which is made outside of any transaction, and
// settled after it together with the answer to the request's key. What brings no answer costs nothing.
func consult[A any, P interface {
	*A
	ai.Answer
}, O any](ctx context.Context, a *App, o ai.Operation, question ai.Ask, show func(*consulted[A]) *O) (*O, error) {
	r := requestOf(ctx)
	if out, err := replay[O](ctx, a); out != nil || err != nil {
		return out, err
	}
	now, err := a.Plans.Of(ctx, r.who.Org)
	if err != nil {
		return nil, err
	}
	if !now.Has(plans.AITokens) {
		return nil, a.Plans.Lacks(&now.Rights, plans.AITokens)
	}
	call, err := o.Call(question)
	if err != nil {
		return nil, err
	}
	hold, err := a.hold(ctx, o, call, min(now.Features[plans.AITokens].Value.Max, ai.Unlimited))
	if err != nil {
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, a.AITime)
	reply, err := a.AI.Complete(asking, call)
	cancel()
	var answer *A
	if err == nil {
		answer, err = ai.Read[A, P](reply.Text, question)
	}
	// Whoever asked may have gone: what was reserved is settled all the same.
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		if lost := a.charge(ctx, hold, 0, nil); lost != nil {
			a.Log.ErrorContext(ctx, "reservation not released", "error", lost) // the sweep charges it
		}
		return nil, a.noAnswer(ctx, err)
	}
	usage := reply.Usage
	if usage.TotalTokens <= 0 { // not said: the estimate is what can be charged
		usage = ai.Usage{PromptTokens: hold.estimate - call.MaxTokens, CompletionTokens: call.MaxTokens, TotalTokens: hold.estimate}
	}
	out := show(&consulted[A]{answer: answer, usage: usage, spent: hold.spending(usage.TotalTokens)})
	err = a.charge(ctx, hold, usage.TotalTokens, func(tx *postgres.Tx) error {
		if r.key == "" {
			return nil
		}
		return remember(tx, a, r, out)
	})
	if err != nil {
		return nil, fmt.Errorf("settle: %w", err)
	}
	return out, nil
}

// noAnswer is the problem of a call that brought none. The log has why; the provider's words are in neither.
func (a *App) noAnswer(ctx context.Context, err error) error {
	f := fault.New(fault.AIUnavailable, "The AI provider gave no usable answer. Nothing was charged.").Because(err)
	f.RetryAfter = 5 * time.Second
	class := "form"
	if u, ok := errors.AsType[*ai.UnavailableError](err); ok {
		if class = u.Class; u.After > 0 {
			f.RetryAfter = u.After
		}
	}
	a.Log.WarnContext(ctx, "ai provider gave no answer", "class", class)
	return f
}

// held is tokens that wait for what a call will have used.
type held struct {
	reservation ai.Reservation
	estimate    int64
	month       int64 // the limits
	minute      int64
	draw        limits.Draw
}

// hold takes the estimate from the minute's bucket and from the month's account.
func (a *App) hold(ctx context.Context, o ai.Operation, call ai.Call, month int64) (held, error) {
	r := requestOf(ctx)
	h := held{estimate: call.Estimate(), month: month, minute: a.AIPerMinute}
	subject := r.who.Org.String()
	var err error
	if h.draw, err = a.Tokens.Take(ctx, subject, h.minute, h.estimate); err != nil {
		return h, fault.New(fault.AIRequestTooLarge, "The request needs more tokens than a minute has. Send less text.")
	}
	if !h.draw.Allowed {
		f := fault.New(fault.AIRateLimited, "The organization spends its AI tokens too quickly. Wait as long as Retry-After says.")
		f.RetryAfter, f.More = h.draw.Wait, map[string]any{"policy": "ai-minute"}
		return h, f
	}
	err = a.DB.Tx(ctx, r.who.Org, func(tx *postgres.Tx) (err error) {
		h.reservation, err = ai.Reserve(ctx, tx, ai.Want{Operation: o.Name, Estimate: h.estimate, Limit: month, Timeout: a.AITime, RequestID: r.id, Key: r.key})
		return err
	})
	if err != nil {
		a.Tokens.Return(ctx, subject, h.minute, h.estimate)
		if f := fault.Of(err); f != nil && f.Code == fault.AIQuotaExhausted {
			f.More = map[string]any{"policy": "ai-month"}
			if lost := a.DB.Tx(ctx, r.who.Org, func(tx *postgres.Tx) error { ai.Exhausted(tx, h.reservation.Month, month); return nil }); lost != nil {
				a.Log.WarnContext(ctx, "used up quota not told", "error", lost)
			}
		}
	}
	return h, err
}

// charge settles what was used and gives the rest of the estimate back to both.
func (a *App) charge(ctx context.Context, h held, used int64, with func(*postgres.Tx) error) error {
	org := requestOf(ctx).who.Org
	a.Tokens.Return(ctx, org.String(), h.minute, h.estimate-used)
	return a.DB.Tx(ctx, org, func(tx *postgres.Tx) error {
		if with != nil {
			if err := with(tx); err != nil {
				return err
			}
		}
		return ai.Settle(ctx, tx, h.reservation.ID, used)
	})
}

// spending are the headers, for the moment after used were charged.
func (h held) spending(used int64) Spending {
	const policy = `"ai-minute";q=%d;w=60;crm-unit="tokens", "ai-month";q=%d;w=2592000;crm-unit="tokens"`
	m := h.reservation.Month
	minute := min(h.minute, h.draw.Remaining+h.estimate-used)
	month := max(0, h.month-m.Used-m.Reserved+h.estimate-used)
	s := Spending{Policy: fmt.Sprintf(policy, h.minute, h.month), Used: strconv.FormatInt(used, 10)}
	if month <= minute {
		s.Rate = fmt.Sprintf(`"ai-month";r=%d;t=%d`, month, int64(time.Until(m.Resets()).Seconds())+1)
	} else {
		s.Rate = fmt.Sprintf(`"ai-minute";r=%d;t=%d`, minute, int64(h.draw.Full.Seconds())+1)
	}
	return s
}
