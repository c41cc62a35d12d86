package stripe

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
)

// FaultKind is what goes wrong with a request.
type FaultKind string

// The faults. Those that act have done what was asked, and with a key have kept an answer for the next try.
const (
	RateLimited FaultKind = "rate_limited" // 429, nothing done
	LockTimeout FaultKind = "lock_timeout" // 429 with code lock_timeout, nothing done
	InUse       FaultKind = "in_use"       // 409 idempotency_key_in_use, nothing done
	Internal    FaultKind = "internal"     // 500, nothing done, stored
	ActedError  FaultKind = "acted_error"  // 500, done, stored
	Slow        FaultKind = "slow"         // acts after Delay; meanwhile its key is in use
	SlowAnswer  FaultKind = "slow_answer"  // acts at once and answers after Delay
	CutBefore   FaultKind = "cut_before"   // the connection ends, nothing done
	CutAfter    FaultKind = "cut_after"    // the connection ends, done
)

// Fault strikes requests that it matches.
type Fault struct {
	Kind   FaultKind
	Method string // "" is any
	Path   string // begins with it; "" is any
	// Skip lets that many matching requests through first.
	Skip int
	// Times is how often it strikes, 1 when 0; negative is always.
	Times int
	Delay time.Duration
	// Struck is called when it strikes, after acting where it acts and after Delay where it is Slow; tests kill
	// processes there, or wait. May be nil.
	Struck func()
}

type faults struct {
	mu  sync.Mutex
	set []*Fault
}

// Break adds a fault to this process's answers.
func (s *Sandbox) Break(f Fault) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	s.faults.set = append(s.faults.set, &f)
}

// Mend takes all faults away.
func (s *Sandbox) Mend() {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.set = nil
}

// strike is the fault of one request; nil is none.
type strike struct{ *Fault }

func (f *faults) take(r *http.Request) *strike {
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

func (s *strike) is(kinds ...FaultKind) bool {
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

// before is what is answered without acting; nil goes on.
func (s *strike) before() *answer {
	switch {
	case s.is(RateLimited):
		s.tell()
		return (&problem{Status: http.StatusTooManyRequests, Type: "invalid_request_error", Code: "rate_limit", Message: "Too many requests hit the API too quickly.", Header: http.Header{"Stripe-Rate-Limited-Reason": {"global-rate"}}}).answer()
	case s.is(LockTimeout):
		s.tell()
		return (&problem{Status: http.StatusTooManyRequests, Type: "invalid_request_error", Code: "lock_timeout", Message: "This object cannot be accessed right now because another API request or Stripe process is currently accessing it."}).answer()
	case s.is(InUse):
		s.tell()
		return (&problem{Status: http.StatusConflict, Type: "idempotency_error", Code: "idempotency_key_in_use", Message: "There is currently another in-progress request using this Idempotent Key."}).answer()
	case s.is(CutBefore):
		s.tell()
		panic(http.ErrAbortHandler)
	}
	return nil
}

// hold delays the work, when its key is in use already.
func (s *strike) hold(ctx context.Context) {
	if s.is(Slow) {
		wait(ctx, ctx, s.Delay)
		s.tell()
	}
}

// instead is a refusal in place of the work, under its key.
func (s *strike) instead() *problem {
	if s.is(Internal) {
		return internal()
	}
	return nil
}

func (s *strike) internal() bool { return s.is(ActedError) }

// after comes when the work is done.
func (s *strike) after(caller context.Context, a *answer) *answer {
	switch {
	case s.is(CutAfter):
		s.tell()
		panic(http.ErrAbortHandler)
	case s.is(SlowAnswer):
		s.tell()
		wait(context.WithoutCancel(caller), caller, s.Delay)
	case s.is(Internal, ActedError):
		s.tell()
		if a.Status == http.StatusOK { // a GET, which has no work to replace
			return internal().answer()
		}
	}
	return a
}

func (s *strike) tell() {
	if s.Struck != nil {
		s.Struck()
	}
}

func wait(ctx, caller context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-caller.Done():
	}
}
