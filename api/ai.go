package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const aiPath = "/api/v1/ai"

// DefaultAITime is the timeout of a call to the provider. It is shorter than a request's own timeout, so that the API
// itself responds when the provider does not.
const DefaultAITime = 14 * time.Second

// DefaultAIPerMinute is the number of tokens which an org may spend per minute.
const DefaultAIPerMinute = 50_000

func (a *App) mountAI() {
	const tag = "AI"
	may := []int{http.StatusPaymentRequired, http.StatusTooManyRequests, http.StatusServiceUnavailable}
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "ai.draft_email",
			Method: http.MethodPost, Path: aiPath + "/draft-email", Need: httpx.Member, Part: httpx.PartAI, Tag: tag,
			Title: "Draft an email to a contact; nothing is sent", May: may,
		}, a.draftEmail)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "ai.summarize_contact",
			Method: http.MethodPost,
			Path:   aiPath + "/summarize-contact",
			Need:   httpx.Member,
			Part:   httpx.PartAI,
			Tag:    tag,
			Title:  "Summarize a contact",
			May:    may,
		}, a.summarizeContact)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "ai.suggest_next_action",
			Method: http.MethodPost, Path: aiPath + "/next-action", Need: httpx.Member, Part: httpx.PartAI, Tag: tag,
			Title: "Suggest the next action for a contact", May: may,
		}, a.nextAction)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "ai.classify_reply",
			Method: http.MethodPost, Path: aiPath + "/classify-reply", Need: httpx.Member, Part: httpx.PartAI, Tag: tag,
			Title: "Classify a reply", May: may,
		}, a.classifyReply)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "ai.get_usage",
			Method: http.MethodGet, Path: aiPath + "/usage", Need: httpx.Viewer, Tag: tag,
			Title: "Get the AI token usage of the month",
		}, a.aiUsage)
}

// Spending holds the headers of a response that cost tokens.
type Spending struct {
	Policy string `header:"RateLimit-Policy" doc:"The two buckets, in tokens"`
	Rate   string `header:"RateLimit" doc:"The tighter bucket: tokens left and seconds until more"`
	Used   string `header:"X-AI-Tokens-Used" doc:"Tokens charged for this request"`
}

// consulted is a provider's answer and its cost.
type consulted[A any] struct {
	answer *A
	usage  ai.TokenUsage
	spent  Spending
}

// callAndCharge calls the provider and charges the org for the answer. It reserves tokens before the call and settles
// them after it, in the transaction that stores the response under the request's idempotency key. No transaction is
// open during the call. A call without a usable answer costs nothing.
func callAndCharge[A any, P interface {
	*A
	ai.Answer
}, O any](ctx context.Context, a *App, o ai.Operation, question ai.Ask, show func(*consulted[A]) *O) (*O, error) {
	r := httpx.RequestOf(ctx)
	if out, err := findStoredResponse[O](ctx, a); out != nil || err != nil {
		return out, err
	}

	now, err := a.Plans.Of(ctx, r.Who.Org)
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

	hold, err := a.reserveTokens(ctx, o, call, min(now.Features[plans.AITokens].Value.Max, ai.Unlimited))
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

	// The caller may have disconnected; the reservation is settled anyway.
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		if lost := a.settleTokens(ctx, hold, 0, nil); lost != nil {
			a.Log.ErrorContext(ctx, "reservation not released", "error", lost) // the sweep will charge it
		}
		return nil, a.noAnswer(ctx, err)
	}

	usage := reply.Usage
	if usage.TotalTokens <= 0 { // no usage reported: charge the estimate
		usage = ai.TokenUsage{
			PromptTokens: hold.estimate - call.MaxTokens, CompletionTokens: call.MaxTokens,
			TotalTokens: hold.estimate,
		}
	}

	out := show(&consulted[A]{answer: answer, usage: usage, spent: hold.spendingHeaders(usage.TotalTokens)})
	err = a.settleTokens(ctx, hold, usage.TotalTokens, func(tx *postgres.Tx) error {
		if r.Key == "" {
			return nil
		}
		return httpx.StoreResponse(tx, a.Server, r, out)
	})
	if err != nil {
		return nil, fmt.Errorf("settle: %w", err)
	}

	return out, nil
}

// noAnswer returns the problem of a provider call without a usable answer, which says why in our words. The log also
// has the provider's own text, without secrets and without what it quotes of the request.
func (a *App) noAnswer(ctx context.Context, err error) error {
	class, reason, detail, after := "form", "its answer has not the form that was asked for", "", 5*time.Second
	if u, ok := errors.AsType[*ai.UnavailableError](err); ok {
		class, reason, detail = u.Class, u.Reason, u.Detail
		if u.After > 0 {
			after = u.After
		}
	}
	f := fault.Newf(fault.AIUnavailable, "The AI provider gave no usable answer: %s. Nothing was charged.", reason).
		Because(err)
	f.RetryAfter = after
	a.Log.WarnContext(ctx, "ai provider returned no usable answer", "class", class, "reason", reason, "detail", detail)
	return f
}

// held is a reservation of tokens for one call.
type held struct {
	reservation ai.Reservation
	estimate    int64
	month       int64 // limit per month
	minute      int64
	draw        limits.Draw
}

// reserveTokens reserves the estimate in the minute's bucket and in the month's account.
func (a *App) reserveTokens(ctx context.Context, o ai.Operation, call ai.Call, month int64) (held, error) {
	r := httpx.RequestOf(ctx)
	h := held{estimate: call.Estimate(), month: month, minute: a.AIPerMinute}
	subject := r.Who.Org.String()
	var err error
	if h.draw, err = a.Tokens.Take(ctx, subject, h.minute, h.estimate); err != nil {
		return h, fault.New(fault.AIRequestTooLarge, "The request needs more tokens than a minute has. Send less text.")
	}

	if !h.draw.Allowed {
		f := fault.New(fault.AIRateLimited,
			"The organization has exceeded its AI token rate. Wait as long as Retry-After says.")
		f.RetryAfter = h.draw.Wait
		f.More = map[string]any{"policy": "ai-minute"}
		return h, f
	}

	err = a.DB.Tx(ctx, r.Who.Org, func(tx *postgres.Tx) (err error) {
		h.reservation, err = ai.Reserve(ctx, tx,
			ai.Want{
				Operation: o.Name, Estimate: h.estimate, Limit: month, Timeout: a.AITime, RequestID: r.ID,
				Key: r.Key,
			})
		return err
	})
	if err != nil {
		a.Tokens.Return(ctx, subject, h.minute, h.estimate)
		if f := fault.Of(err); f != nil && f.Code == fault.AIQuotaExhausted {
			f.More = map[string]any{"policy": "ai-month"}
			if lost := a.DB.Tx(ctx, r.Who.Org, func(tx *postgres.Tx) error {
				ai.Exhausted(tx, h.reservation.Month, month)
				return nil
			}); lost != nil {
				a.Log.WarnContext(ctx, "announcing the exhausted AI quota failed", "error", lost)
			}
		}
	}

	return h, err
}

// settleTokens settles the tokens used and returns the rest of the estimate to the bucket and the account. It runs
// with, if not nil, in the same transaction.
func (a *App) settleTokens(ctx context.Context, h held, used int64, with func(*postgres.Tx) error) error {
	org := httpx.RequestOf(ctx).Who.Org
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

// spendingHeaders returns the headers for the state after used tokens were charged.
func (h held) spendingHeaders(used int64) Spending {
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
