package branding

import "time"

// Status is the state of a domain.
type Status string

// The states. In every state except PendingDNS and Removed, the domain has been proven and holds its host.
const (
	PendingDNS Status = "pending_dns" // claimed, not proven
	Verified   Status = "verified"    // proven; the host does not point here yet
	Active     Status = "active"      // proven; the host points here
	Degraded   Status = "degraded"    // a record is missing; served for Grace
	Suspended  Status = "suspended"   // not served: records missing for too long, or feature not in plan
	Removed    Status = "removed"     // ended; the row is kept
)

// Served reports whether pages are served and certificates issued in s.
func (s Status) Served() bool { return s == Verified || s == Active || s == Degraded }

// Holds reports whether the host is held, so that no other org may have it.
func (s Status) Holds() bool { return s.Served() || s == Suspended }

// Reason is the problem that the last check found; "" if there was none, and before the first check.
type Reason string

// The reasons. TXTMissing and TXTWrong count as failures. CNAMEMissing and CNAMEWrong count if the host has pointed
// here before. The other reasons never count.
const (
	TXTMissing   Reason = "txt_missing"
	TXTWrong     Reason = "txt_wrong"
	CNAMEMissing Reason = "cname_missing"
	CNAMEWrong   Reason = "cname_wrong"

	Disagree    Reason = "resolvers_disagree"
	Unreachable Reason = "dns_unreachable"
	Taken       Reason = "domain_taken"
	NoFeature   Reason = "feature_not_in_plan"
	Expired     Reason = "claim_expired" // of a removed claim
)

// Durations of a domain's life cycle.
const (
	ClaimLife  = 7 * 24 * time.Hour // of a claim without proof
	Grace      = 72 * time.Hour     // how long a degraded domain is served
	Quarantine = 7 * 24 * time.Hour // how long a suspended domain without proof holds its host
	FailureGap = 5 * time.Minute    // minimum time between counted failures
	Failures   = 3                  // consecutive failures until a domain is degraded
)

// Intervals between checks.
const (
	soonest    = time.Minute
	atMost     = time.Hour
	watching   = 6 * time.Hour
	afterDoubt = 10 * time.Minute // after a problem of an active domain, or a failed query
)

// Standing is the state of a domain. A nil time means that the event has not happened.
type Standing struct {
	Status      Status
	Reason      Reason
	Failures    int // consecutive
	ClaimedAt   time.Time
	ProvenAt    *time.Time // first proven
	RoutedAt    *time.Time // first pointed here
	CheckedAt   *time.Time // the last applied check
	FailedAt    *time.Time // the last counted failure
	DegradedAt  *time.Time // start of the degradation
	SuspendedAt *time.Time
	LostAt      *time.Time // since when the proof is missing
	RemovedAt   *time.Time
	NextCheckAt time.Time
}

// After returns the state after a check; entitled reports whether the org's plan has custom domains. It is pure.
//
//	             all right    proof only             a record gone                 disagree, unreachable
//	pending_dns  active       verified               stays; after 7 days removed   stays; after 7 days removed
//	verified     active       stays                  third time (TXT): degraded    stays
//	active       stays        third time: degraded   third time: degraded          stays
//	degraded     active       as active, or verified after 3 days: suspended       stays
//	                          if it never pointed here
//	suspended    active       as above               TXT, after 7 days: removed    stays
//
// Without the feature, every proven domain is suspended. The next check with the feature ends the suspension.
func (s Standing) After(l DNSCheck, entitled bool) Standing {
	now := l.At
	s.CheckedAt = &now
	s.Reason = l.reason()
	switch s.Status {
	case Removed:
	case PendingDNS:
		s.checkPending(l, entitled)
	default:
		s.checkHeld(l, entitled)
	}

	s.NextCheckAt = s.nextCheck(now)

	return s
}

func (s *Standing) checkPending(l DNSCheck, entitled bool) {
	switch {
	case l.Proof == Right && !l.Taken && entitled:
		s.ProvenAt = &l.At
		s.setServed(l)
	case l.At.Sub(s.ClaimedAt) >= ClaimLife:
		s.Status = Removed
		s.Reason = Expired
		s.RemovedAt = &l.At
	case l.Proof == Right && l.Taken:
		s.Reason = Taken
	case l.Proof == Right:
		s.Reason = NoFeature
	}
}

// setServed sets the state of a domain without problems.
func (s *Standing) setServed(l DNSCheck) {
	s.Status = Verified
	s.Failures = 0
	s.FailedAt = nil
	s.DegradedAt = nil
	s.SuspendedAt = nil
	s.LostAt = nil
	if l.Route == Right {
		s.Status = Active
		if s.RoutedAt == nil {
			s.RoutedAt = &l.At
		}
	}
}

func (s *Standing) checkHeld(l DNSCheck, entitled bool) {
	switch {
	case l.Proof == Right:
		s.LostAt = nil
	case l.Proof.isFailed() && s.LostAt == nil:
		s.LostAt = &l.At
	}

	needsRoute := s.RoutedAt != nil
	well := l.Proof == Right && (l.Route == Right || !needsRoute)
	gone := l.Proof.isFailed() || needsRoute && l.Route.isFailed()
	switch {
	case s.LostAt != nil && l.Proof.isFailed() && s.Status == Suspended &&
		l.At.Sub(*s.SuspendedAt) >= Quarantine &&
		l.At.Sub(*s.LostAt) >= Quarantine:
		s.Status = Removed
		s.RemovedAt = &l.At
	case !entitled:
		s.setSuspended(l)
		s.Reason = NoFeature
	case well:
		s.setServed(l)
	case gone:
		s.countFailure(l)
	}
}

func (s *Standing) setSuspended(l DNSCheck) {
	if s.Status != Suspended {
		s.Status = Suspended
		s.SuspendedAt = &l.At
	}
}

// countFailure counts a failure and degrades or suspends the domain if there are too many.
func (s *Standing) countFailure(l DNSCheck) {
	if s.FailedAt == nil || l.At.Sub(*s.FailedAt) >= FailureGap {
		s.Failures++
		s.FailedAt = &l.At
	}

	switch {
	case s.Status == Degraded && l.At.Sub(*s.DegradedAt) >= Grace:
		s.setSuspended(l)
	case (s.Status == Verified || s.Status == Active) && s.Failures >= Failures:
		s.Status = Degraded
		s.DegradedAt = &l.At
	}
}

// nextCheck returns the time of the next check. The interval of a claim is a quarter of its age, between a minute and
// an hour.
func (s *Standing) nextCheck(now time.Time) time.Time {
	wait := watching
	switch {
	case s.Status == PendingDNS:
		wait = min(max(now.Sub(s.ClaimedAt)/4, soonest), atMost)
	case s.Status == Verified:
		wait = min(max(now.Sub(*s.ProvenAt)/4, soonest), atMost)
	case s.Status == Degraded:
		wait = atMost
	case s.Status == Active && s.Reason != "":
		wait = afterDoubt
	}

	if s.Reason == Unreachable && wait > afterDoubt {
		wait = afterDoubt
	}

	return now.Add(wait)
}

// Finding is the combined result of all resolvers for one record.
type Finding string

// The findings.
const (
	Right   Finding = "right"   // all returned the right record
	Missing Finding = "missing" // all responded, none with a record
	Wrong   Finding = "wrong"   // all responded, none with the right record, at least one with another
	Split   Finding = "split"   // some returned the right record, some did not
	Unknown Finding = "unknown" // a query failed
)

func (f Finding) isFailed() bool { return f == Missing || f == Wrong }

// DNSCheck is the result of a check of a domain.
type DNSCheck struct {
	At    time.Time // start of the check
	Proof Finding   // the TXT record
	Route Finding   // where the host points
	Taken bool      // another org holds the host
	Seen  string    // the wrong record's value, for display; "": none
}

// reason returns the most important problem of the check.
func (l DNSCheck) reason() Reason {
	reasons := map[Finding]Reason{Missing: TXTMissing, Wrong: TXTWrong, Split: Disagree, Unknown: Unreachable}
	if l.Proof != Right {
		return reasons[l.Proof]
	}

	reasons[Missing] = CNAMEMissing
	reasons[Wrong] = CNAMEWrong

	return reasons[l.Route]
}
