package branding

import "time"

// Status of a domain.
type Status string

// The states. Every one but PendingDNS and Removed has had its proof, and holds its host.
const (
	PendingDNS Status = "pending_dns" // a claim without proof
	Verified   Status = "verified"    // proven; the host does not lead here yet
	Active     Status = "active"      // proven, and the host leads here
	Degraded   Status = "degraded"    // a record is gone; served for a while
	Suspended  Status = "suspended"   // not served: the records stayed away, or the plan has no custom domain
	Removed    Status = "removed"     // ended; the row stays
)

// Served tells whether pages are shown and certificates given in s.
func (s Status) Served() bool { return s == Verified || s == Active || s == Degraded }

// Holds tells whether nobody else may have the host.
func (s Status) Holds() bool { return s.Served() || s == Suspended }

// Reason is why the last look found a domain not right; "" where it did, and before the first.
type Reason string

// The reasons. The first two count as failures, those of the CNAME where the host has led here once, the others never.
const (
	TXTMissing   Reason = "txt_missing"
	TXTWrong     Reason = "txt_wrong"
	CNAMEMissing Reason = "cname_missing"
	CNAMEWrong   Reason = "cname_wrong"

	Disagree    Reason = "resolvers_disagree"
	Unreachable Reason = "dns_unreachable"
	Taken       Reason = "domain_taken"
	NoFeature   Reason = "feature_not_in_plan"
	Expired     Reason = "claim_expired" // of a removed one
)

// Times of a domain's life.
const (
	ClaimLife  = 7 * 24 * time.Hour // of a claim without proof
	Grace      = 72 * time.Hour     // for which a degraded domain is served
	Quarantine = 7 * 24 * time.Hour // for which a suspended domain without proof still holds its host
	FailureGap = 5 * time.Minute    // between two failures that count
	Failures   = 3                  // in a row that make a domain degraded
)

// Times between two looks.
const (
	soonest    = time.Minute
	atMost     = time.Hour
	watching   = 6 * time.Hour
	afterDoubt = 10 * time.Minute // a served domain that a look did not find right
)

// Standing is what a domain has come to. The times are nil where it did not happen.
type Standing struct {
	Status      Status
	Reason      Reason
	Failures    int // in a row
	ClaimedAt   time.Time
	ProvenAt    *time.Time // first
	RoutedAt    *time.Time // first led here
	CheckedAt   *time.Time // the last look that was applied
	FailedAt    *time.Time // the last failure that counted
	DegradedAt  *time.Time // since when it has not been well
	SuspendedAt *time.Time
	LostAt      *time.Time // since when the proof has been missing
	RemovedAt   *time.Time
	NextCheckAt time.Time
}

// After is what a look makes of s, for an org that is entitled to a custom domain or is not. It is pure.
//
//	             all right    proof only             a record gone                 disagree, unreachable
//	pending_dns  active       verified               stays; after 7 days removed   stays; after 7 days removed
//	verified     active       stays                  third time (TXT): degraded    stays
//	active       stays        third time: degraded   third time: degraded          stays
//	degraded     active       as active, or verified after 3 days: suspended       stays
//	                          if it never led here
//	suspended    active       as above               TXT, after 7 days: removed    stays
//
// Without the feature, whatever has had proof is suspended, and comes out of it by the next look with the feature.
func (s Standing) After(l Look, entitled bool) Standing {
	now := l.At
	s.CheckedAt = &now
	s.Reason = l.reason()
	switch s.Status {
	case Removed:
	case PendingDNS:
		s.pending(l, entitled)
	default:
		s.held(l, entitled)
	}
	s.NextCheckAt = s.next(now)
	return s
}

func (s *Standing) pending(l Look, entitled bool) {
	switch {
	case l.Proof == Right && !l.Taken && entitled:
		s.ProvenAt = &l.At
		s.serve(l)
	case l.At.Sub(s.ClaimedAt) >= ClaimLife:
		s.Status, s.Reason, s.RemovedAt = Removed, Expired, &l.At
	case l.Proof == Right && l.Taken:
		s.Reason = Taken
	case l.Proof == Right:
		s.Reason = NoFeature
	}
}

// serve is for a domain that is well.
func (s *Standing) serve(l Look) {
	s.Status, s.Failures, s.FailedAt, s.DegradedAt, s.SuspendedAt, s.LostAt = Verified, 0, nil, nil, nil, nil
	if l.Route == Right {
		s.Status = Active
		if s.RoutedAt == nil {
			s.RoutedAt = &l.At
		}
	}
}

func (s *Standing) held(l Look, entitled bool) {
	switch {
	case l.Proof == Right:
		s.LostAt = nil
	case l.Proof.failed() && s.LostAt == nil:
		s.LostAt = &l.At
	}
	needsRoute := s.RoutedAt != nil
	well := l.Proof == Right && (l.Route == Right || !needsRoute)
	gone := l.Proof.failed() || needsRoute && l.Route.failed()
	switch {
	case s.LostAt != nil && l.Proof.failed() && s.Status == Suspended && l.At.Sub(*s.SuspendedAt) >= Quarantine && l.At.Sub(*s.LostAt) >= Quarantine:
		s.Status, s.RemovedAt = Removed, &l.At
	case !entitled:
		s.suspend(l)
		s.Reason = NoFeature
	case well:
		s.serve(l)
	case gone:
		s.fail(l)
	}
}

func (s *Standing) suspend(l Look) {
	if s.Status != Suspended {
		s.Status, s.SuspendedAt = Suspended, &l.At
	}
}

// fail counts a failure.
func (s *Standing) fail(l Look) {
	if s.FailedAt == nil || l.At.Sub(*s.FailedAt) >= FailureGap {
		s.Failures, s.FailedAt = s.Failures+1, &l.At
	}
	switch {
	case s.Status == Degraded && l.At.Sub(*s.DegradedAt) >= Grace:
		s.suspend(l)
	case (s.Status == Verified || s.Status == Active) && s.Failures >= Failures:
		s.Status, s.DegradedAt = Degraded, &l.At
	}
}

// next is when the domain is looked at again: a young claim by the minute, an old one by the hour.
func (s *Standing) next(now time.Time) time.Time {
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

// Finding is what all resolvers together say of one record.
type Finding string

// The findings.
const (
	Right   Finding = "right"   // all found it
	Missing Finding = "missing" // all were asked, none found any
	Wrong   Finding = "wrong"   // all were asked, none found the right one, and one found another
	Split   Finding = "split"   // one found it, another did not
	Unknown Finding = "unknown" // one could not be asked
)

func (f Finding) failed() bool { return f == Missing || f == Wrong }

// Look is what was found of a domain at a moment.
type Look struct {
	At    time.Time // when it began
	Proof Finding   // of the TXT record
	Route Finding   // of where the host leads
	Taken bool      // another org holds the host
	Seen  string    // what stands in the place of a wrong record, for people; "" for nothing
}

// reason is the most important thing that is not right.
func (l Look) reason() Reason {
	reasons := map[Finding]Reason{Missing: TXTMissing, Wrong: TXTWrong, Split: Disagree, Unknown: Unreachable}
	if l.Proof != Right {
		return reasons[l.Proof]
	}
	reasons[Missing], reasons[Wrong] = CNAMEMissing, CNAMEWrong
	return reasons[l.Route]
}
