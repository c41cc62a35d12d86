package auth

import (
	"context"
	"encoding/hex"
	"net/netip"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Throttling of failed logins. An account has five free failures; then each attempt takes a hold that doubles from one
// second to five minutes, so an account allows about two dozen guesses an hour in total. An address block from which
// the account logged in before has a separate count, so that a stranger who guesses cannot lock the owner out. A hold
// never exceeds five minutes.
const (
	accountFree   = 5
	accountWindow = 15 * time.Minute // since the last failure
	accountHold   = 5 * time.Minute
	accountHour   = 100 // failures per clock hour, in addition to the above
	ipFailures    = 100 // failures per block and 15 minutes
	allFailures   = 5000
	knownLife     = 30 * 24 * time.Hour
)

// Limit is a number of requests per address block and window.
type Limit struct {
	Name   string // used in the counter's key and the metric
	Max    int64
	Window time.Duration
}

// The limits of the routes without authentication.
var (
	TakenLimit  = Limit{"email_taken", 20, 15 * time.Minute}
	ForgotLimit = Limit{"forgot", 30, 15 * time.Minute}

	// Mails to one address that anyone can request.
	callerMails  = Limit{"mail_caller", 5, time.Hour}        // requested by one caller
	addressMails = Limit{"mail_address", 20, 24 * time.Hour} // requested by all callers
)

// Allow counts one request of ip's address block and returns fault.RateLimited beyond l.
func (s *Service) Allow(ctx context.Context, l Limit, ip netip.Addr) error {
	if s.Unlimited {
		return nil
	}
	return s.allowSubject(ctx, l, addressBlock(ip))
}

// allowSubject is Allow for any subject.
func (s *Service) allowSubject(ctx context.Context, l Limit, subject string) error {
	n, end := s.countRequest(ctx, l, subject, 1)
	if n <= l.Max {
		return nil
	}
	return s.refuseRequest(l.Name, end)
}

// countRequest adds by to the count of the current window, which begins at a multiple of its length. It returns the
// count and the remaining time.
func (s *Service) countRequest(ctx context.Context, l Limit, subject string, by int64) (int64, time.Duration) {
	now := time.Now()
	start := now.Truncate(l.Window)
	key := "auth:" + l.Name + ":" + subject + ":" + strconv.FormatInt(start.Unix(), 36)
	n, _ := s.counts.add(ctx, key, by, l.Window+time.Second) // the fallback does not fail
	return n, start.Add(l.Window).Sub(now)
}

func (s *Service) refuseRequest(by string, wait time.Duration) error {
	s.Metrics.throttled.WithLabelValues(by).Inc()
	f := fault.New(fault.RateLimited, "Too many tries; wait before the next one.")
	f.RetryAfter = max(wait, time.Second)
	return f
}

// attempt is a password check that counts as failed until the password proves right.
type attempt struct {
	s             *Service
	account, from string
	known         string // key that marks from as a known address of the account
	isKnown       bool
	fails, held   string // keys of the applicable count and hold
	done          func() // releases the account to the next attempt; call it after the check
}

var (
	hourLimit = Limit{"account_hour", accountHour, time.Hour}
	ipLimit   = Limit{"login_ip", ipFailures, 15 * time.Minute}
	allLimit  = Limit{"login_all", allFailures, time.Minute}
)

// beginAttempt counts an attempt at email's account from ip, or returns fault.RateLimited. It counts before the
// password is checked, so that concurrent attempts are all counted.
func (s *Service) beginAttempt(ctx context.Context, email string, ip netip.Addr) (*attempt, error) {
	sum := digestOf(FoldEmail(email)) // no mail addresses in Redis
	a := &attempt{s: s, account: hex.EncodeToString(sum[:12]), from: addressBlock(ip)}
	a.known = "auth:known:" + a.account + ":" + a.from
	scope := a.account
	since, _ := s.counts.left(ctx, a.known)
	a.isKnown = since > 0
	if a.isKnown {
		scope += ":" + a.from
	}

	a.fails = "auth:fails:" + scope
	a.held = "auth:hold:" + scope
	if wait, _ := s.counts.left(ctx, a.held); wait > 0 {
		return nil, s.refuseRequest("account", wait)
	}

	var err error
	if a.done, err = s.turns.waitFor(ctx, scope); err != nil {
		return nil, err
	}
	if err = a.countAdmitted(ctx); err != nil {
		a.done()
		return nil, err
	}

	return a, nil
}

// countAdmitted counts the attempt once the account is released to it.
func (a *attempt) countAdmitted(ctx context.Context) error {
	s := a.s
	if wait, _ := s.counts.left(ctx, a.held); wait > 0 {
		return s.refuseRequest("account", wait)
	}
	if n, end := s.countRequest(ctx, hourLimit, a.account, 1); n > hourLimit.Max && !a.isKnown {
		s.countRequest(ctx, hourLimit, a.account, -1)
		return s.refuseRequest("account_hour", min(end, accountHold))
	}
	if !s.Unlimited && !a.isKnown {
		for _, l := range []Limit{ipLimit, allLimit} {
			if n, end := s.countRequest(ctx, l, a.subjectOf(l), 1); n > l.Max {
				s.countRequest(ctx, l, a.subjectOf(l), -1)
				s.countRequest(ctx, hourLimit, a.account, -1)
				return s.refuseRequest(l.Name, end)
			}
		}
	}

	n, _ := s.counts.add(ctx, a.fails, 1, accountWindow)
	if n < accountFree {
		return nil
	}

	d := accountHold
	if over := n - accountFree; over < 9 {
		d = min(d, time.Second<<over)
	}
	if free, _ := s.counts.hold(ctx, a.held, d); !free {
		wait, _ := s.counts.left(ctx, a.held)
		_, _ = s.counts.add(ctx, a.fails, -1, accountWindow)
		s.countRequest(ctx, hourLimit, a.account, -1)
		return s.refuseRequest("account", wait)
	}

	return nil
}

// recordSuccess takes the count back, and records the address block of the account's owner.
func (a *attempt) recordSuccess(ctx context.Context) {
	_ = a.s.counts.drop(ctx, a.fails, a.held)
	a.s.countRequest(ctx, hourLimit, a.account, -1)
	if !a.isKnown && !a.s.Unlimited {
		for _, l := range []Limit{ipLimit, allLimit} {
			a.s.countRequest(ctx, l, a.subjectOf(l), -1)
		}
	}

	_ = a.s.counts.drop(ctx, a.known)
	_, _ = a.s.counts.hold(ctx, a.known, knownLife)
}

func (a *attempt) subjectOf(l Limit) string {
	if l.Name == ipLimit.Name {
		return a.from
	}
	return "all"
}

// callerPart returns the part of an address that surely belongs to one caller: an IPv4 address, or a /64 of IPv6.
func callerPart(ip netip.Addr) string {
	if ip = ip.Unmap(); ip.Is4() {
		return ip.String()
	}
	return addressBlock(ip)
}

// addressBlock returns the part of an address that one subscriber usually has: /24 of IPv4, /64 of IPv6.
func addressBlock(ip netip.Addr) string {
	ip = ip.Unmap()
	bits := 24
	if ip.Is6() {
		bits = 64
	}

	p, err := ip.WithZone("").Prefix(bits)
	if err != nil {
		return "unknown"
	}

	return p.Addr().String()
}
