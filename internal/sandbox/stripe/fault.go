package stripe

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
)

// FaultKind is the way in which a request fails.
type FaultKind string

// The faults. A fault "done" has executed the request and, with an idempotency key, stored a response for the retry.
const (
	RateLimited FaultKind = "rate_limited" // 429, nothing done
	LockTimeout FaultKind = "lock_timeout" // 429 with code lock_timeout, nothing done
	InUse       FaultKind = "in_use"       // 409 idempotency_key_in_use, nothing done
	Internal    FaultKind = "internal"     // 500, nothing done, stored
	ActedError  FaultKind = "acted_error"  // 500, done, stored
	Slow        FaultKind = "slow"         // executes after Delay; until then its key is in use
	SlowAnswer  FaultKind = "slow_answer"  // executes at once and responds after Delay
	CutBefore   FaultKind = "cut_before"   // the connection is cut, nothing done
	CutAfter    FaultKind = "cut_after"    // the connection is cut, done
)

// Fault makes matching requests fail.
type Fault struct {
	Kind   FaultKind
	Method string // "" matches any
	Path   string // prefix of the path; "" matches any
	// Skip is how many matching requests pass first.
	Skip int
	// Times is how many requests fail; 0 means 1, a negative number means all.
	Times int
	Delay time.Duration
	// Struck, if set, is called when the fault strikes: after the work if the fault executes it, and after Delay if it
	// is Slow. Tests kill processes there, or wait.
	Struck func()
}

type faults struct {
	mu  sync.Mutex
	set []*Fault
}

// Break adds a fault to this process.
func (s *Sandbox) Break(f Fault) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	s.faults.set = append(s.faults.set, &f)
}

// Mend removes all faults.
func (s *Sandbox) Mend() {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.set = nil
}

// strike is the fault of one request; nil for none.
type strike struct{ *Fault }

func (f *faults) takeMatching(r *http.Request) *strike {
	f.mu.Lock()
	defer f.mu.Unlock()

	for _, one := range f.set {
		switch {
		case one.Times == 0, one.Method != "" && one.Method != r.Method, !strings.HasPrefix(r.URL.Path, one.Path):
			continue
		case one.Skip > 0:
			one.Skip--
			continue
		}

		one.Times--
		return &strike{one}
	}

	return nil
}

func (s *strike) isOneOf(kinds ...FaultKind) bool {
	if s == nil {
		return false
	}

	for _, k := range kinds {
		if s.Kind == k {
			return true
		}
	}

	return false
}

// refuseBefore returns the response if the request is not executed, and otherwise nil.
func (s *strike) refuseBefore() *answer {
	switch {
	case s.isOneOf(RateLimited):
		s.notifyStruck()
		return (&problem{
			Status: http.StatusTooManyRequests, Type: "invalid_request_error", Code: "rate_limit",
			Message: "Too many requests hit the API too quickly.",
			Header:  http.Header{"Stripe-Rate-Limited-Reason": {"global-rate"}},
		}).asAnswer()
	case s.isOneOf(LockTimeout):
		s.notifyStruck()
		return (&problem{
			Status: http.StatusTooManyRequests, Type: "invalid_request_error", Code: "lock_timeout",
			Message: "This object cannot be accessed right now because another API request or Stripe process is " +
				"currently accessing it.",
		}).asAnswer()
	case s.isOneOf(InUse):
		s.notifyStruck()
		return (&problem{
			Status: http.StatusConflict, Type: "idempotency_error", Code: "idempotency_key_in_use",
			Message: "There is currently another in-progress request using this Idempotent Key.",
		}).asAnswer()
	case s.isOneOf(CutBefore):
		s.notifyStruck()
		panic(http.ErrAbortHandler)
	}

	return nil
}

// delayWork delays the work while its key is in use.
func (s *strike) delayWork(ctx context.Context) {
	if s.isOneOf(Slow) {
		waitFor(ctx, ctx, s.Delay)
		s.notifyStruck()
	}
}

// replaceWork returns a refusal that replaces the work and is stored under its key.
func (s *strike) replaceWork() *problem {
	if s.isOneOf(Internal) {
		return internalError()
	}
	return nil
}

func (s *strike) hidesResult() bool { return s.isOneOf(ActedError) }

// applyAfter applies the faults that follow the work.
func (s *strike) applyAfter(caller context.Context, a *answer) *answer {
	switch {
	case s.isOneOf(CutAfter):
		s.notifyStruck()
		panic(http.ErrAbortHandler)
	case s.isOneOf(SlowAnswer):
		s.notifyStruck()
		waitFor(context.WithoutCancel(caller), caller, s.Delay)
	case s.isOneOf(Internal, ActedError):
		s.notifyStruck()
		if a.Status == http.StatusOK { // a GET has no work to replace
			return internalError().asAnswer()
		}
	}

	return a
}

func (s *strike) notifyStruck() {
	if s.Struck != nil {
		s.Struck()
	}
}

func waitFor(ctx, caller context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()

	select {
	case <-t.C:
	case <-ctx.Done():
	case <-caller.Done():
	}
}
