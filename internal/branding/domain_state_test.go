package branding_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/branding"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// standing returns a domain one hour after it entered a state; routed means that its host has pointed here.
func standing(in branding.Status, routed bool) branding.Standing {
	before := began.Add(-time.Hour)
	s := branding.Standing{Status: in, ClaimedAt: began.Add(-2 * time.Hour)}
	if in == branding.PendingDNS {
		return s
	}
	s.ProvenAt = &before
	if routed {
		s.RoutedAt = &before
	}
	if in == branding.Degraded || in == branding.Suspended {
		s.DegradedAt, s.Failures, s.FailedAt = &before, branding.Failures, &before
	}
	if in == branding.Suspended {
		s.SuspendedAt = &before
	}
	if in == branding.Removed {
		s.RemovedAt = &before
	}
	return s
}

func TestWhatALookMakesOfADomain(t *testing.T) {
	t.Parallel()
	const (
		pending, verified, active  = branding.PendingDNS, branding.Verified, branding.Active
		degraded, suspended, ended = branding.Degraded, branding.Suspended, branding.Removed
		right, missing, wrong      = branding.Right, branding.Missing, branding.Wrong
		split, unknown             = branding.Split, branding.Unknown
		day                        = 24 * time.Hour
	)
	type row struct {
		in           branding.Status
		routed       bool
		age          time.Duration // of the state, in addition to the hour of standing
		proof, route branding.Finding
		failed       int // earlier failures, for states that count them
		free         bool
		want         branding.Status
		reason       branding.Reason
	}
	for _, c := range []row{
		// A claim.
		{pending, false, 0, right, right, 0, false, active, ""},
		{pending, false, 0, right, missing, 0, false, verified, branding.CNAMEMissing},
		{pending, false, 0, right, wrong, 0, false, verified, branding.CNAMEWrong},
		{pending, false, 0, right, unknown, 0, false, verified, branding.Unreachable},
		{pending, false, 0, missing, right, 0, false, pending, branding.TXTMissing},
		{pending, false, 0, wrong, right, 0, false, pending, branding.TXTWrong},
		{pending, false, 0, split, right, 0, false, pending, branding.Disagree},
		{pending, false, 0, unknown, right, 0, false, pending, branding.Unreachable},
		{pending, false, 7 * day, missing, missing, 0, false, ended, branding.Expired},
		{pending, false, 7 * day, unknown, unknown, 0, false, ended, branding.Expired},
		{pending, false, 7 * day, right, right, 0, false, active, ""},
		{pending, false, 0, right, right, 0, true, pending, branding.NoFeature},
		// Proven, not pointing here yet.
		{verified, false, 0, right, right, 0, false, active, ""},
		{verified, false, 90 * day, right, missing, 9, false, verified, branding.CNAMEMissing},
		{verified, false, 0, missing, right, 0, false, verified, branding.TXTMissing},
		{verified, false, 0, missing, right, 2, false, degraded, branding.TXTMissing},
		{verified, false, 0, wrong, right, 2, false, degraded, branding.TXTWrong},
		{verified, false, 0, split, right, 2, false, verified, branding.Disagree},
		{verified, false, 0, unknown, missing, 2, false, verified, branding.Unreachable},
		{verified, false, 0, right, right, 0, true, suspended, branding.NoFeature},
		// Served.
		{active, true, 0, right, right, 2, false, active, ""},
		{active, true, 0, missing, right, 1, false, active, branding.TXTMissing},
		{active, true, 0, missing, right, 2, false, degraded, branding.TXTMissing},
		{active, true, 0, right, missing, 2, false, degraded, branding.CNAMEMissing},
		{active, true, 0, right, wrong, 2, false, degraded, branding.CNAMEWrong},
		{active, true, 0, unknown, wrong, 2, false, degraded, branding.Unreachable},
		{active, true, 0, split, right, 2, false, active, branding.Disagree},
		{active, true, 0, right, split, 2, false, active, branding.Disagree},
		{active, true, 0, unknown, unknown, 2, false, active, branding.Unreachable},
		{active, true, 0, unknown, unknown, 0, true, suspended, branding.NoFeature},
		{active, true, 0, right, right, 0, true, suspended, branding.NoFeature},
		// Degraded.
		{degraded, true, 0, right, right, 3, false, active, ""},
		{degraded, true, 0, right, missing, 3, false, degraded, branding.CNAMEMissing},
		{degraded, false, 0, right, missing, 3, false, verified, branding.CNAMEMissing},
		{degraded, true, 2 * day, missing, missing, 9, false, degraded, branding.TXTMissing},
		{degraded, true, 3 * day, missing, missing, 9, false, suspended, branding.TXTMissing},
		{degraded, true, 3 * day, right, wrong, 9, false, suspended, branding.CNAMEWrong},
		{degraded, true, 30 * day, unknown, unknown, 9, false, degraded, branding.Unreachable},
		{degraded, true, 30 * day, split, right, 9, false, degraded, branding.Disagree},
		{degraded, true, 0, right, right, 3, true, suspended, branding.NoFeature},
		// Suspended.
		{suspended, true, 0, right, right, 3, false, active, ""},
		{suspended, true, 30 * day, right, missing, 3, false, suspended, branding.CNAMEMissing},
		{suspended, false, 0, right, missing, 3, false, verified, branding.CNAMEMissing},
		{suspended, true, 6 * day, missing, right, 3, false, suspended, branding.TXTMissing},
		{suspended, true, 30 * day, unknown, unknown, 3, false, suspended, branding.Unreachable},
		{suspended, true, 0, right, right, 3, true, suspended, branding.NoFeature},
		{suspended, true, 30 * day, right, right, 3, true, suspended, branding.NoFeature},
		// Removed.
		{ended, true, 0, right, right, 0, false, ended, ""},
	} {
		s := standing(c.in, c.routed)
		s.Failures = c.failed
		now := began.Add(c.age)
		got := s.After(branding.DNSCheck{At: now, Proof: c.proof, Route: c.route}, !c.free)
		if got.Status != c.want || got.Reason != c.reason {
			t.Errorf(
				"%s (routed %v, after %s, %d failures, without the feature %v), TXT %s, CNAME %s: %s %q; want %s %q",
				c.in, c.routed, c.age, c.failed, c.free, c.proof, c.route, got.Status, got.Reason, c.want, c.reason)
		}
		if !got.NextCheckAt.After(now) {
			t.Errorf("%s: next check at %s, not after %s", c.in, got.NextCheckAt, now)
		}
		if got.CheckedAt == nil || !got.CheckedAt.Equal(now) {
			t.Errorf("%s: last check at %v, want %s", c.in, got.CheckedAt, now)
		}
	}
}

func TestAProofThatStaysAwayFreesTheHostAfterTheQuarantineAndNotBefore(t *testing.T) {
	t.Parallel()
	s, now := standing(branding.Active, true), began
	seen := map[branding.Status]time.Duration{}
	for s.Status != branding.Removed {
		if now.Sub(began) > 60*24*time.Hour {
			t.Fatal("the host is never free")
		}
		s = s.After(branding.DNSCheck{At: now, Proof: branding.Missing, Route: branding.Right}, true)
		if _, ok := seen[s.Status]; !ok {
			seen[s.Status] = now.Sub(began)
		}
		now = s.NextCheckAt
	}
	if got := seen[branding.Degraded]; got < 2*branding.FailureGap || got > time.Hour {
		t.Errorf("degraded after %s", got)
	}
	if got := seen[branding.Suspended] - seen[branding.Degraded]; got < branding.Grace ||
		got > branding.Grace+time.Hour {
		t.Errorf("suspended %s after it was degraded", got)
	}
	if got := seen[branding.Removed] - seen[branding.Suspended]; got < branding.Quarantine ||
		got > branding.Quarantine+6*time.Hour {
		t.Errorf("free %s after it was suspended", got)
	}
}

func TestHurriedLooksCountAsOneFailure(t *testing.T) {
	t.Parallel()
	s := standing(branding.Active, true)
	for i := range 50 {
		s = s.After(branding.DNSCheck{
			At: began.Add(time.Duration(i) * time.Second), Proof: branding.Missing,
			Route: branding.Missing,
		}, true)
	}
	if s.Status != branding.Active || s.Failures != 1 {
		t.Errorf("after 50 looks within a minute: %s, %d failures", s.Status, s.Failures)
	}
}

// If a lost proof returns, a later loss restarts the quarantine.
func TestALostProofThatCameBackHasNotBeenLost(t *testing.T) {
	t.Parallel()
	s := standing(branding.Suspended, true)
	week := branding.Quarantine
	s = s.After(branding.DNSCheck{At: began, Proof: branding.Missing, Route: branding.Missing}, true)
	s = s.After(branding.DNSCheck{At: began.Add(week - time.Hour), Proof: branding.Right, Route: branding.Missing},
		true)
	s = s.After(branding.DNSCheck{At: began.Add(week + time.Hour), Proof: branding.Missing, Route: branding.Missing},
		true)
	if s.Status != branding.Suspended {
		t.Errorf("%s", s.Status)
	}
	if s = s.After(branding.DNSCheck{
		At: began.Add(2*week + 2*time.Hour), Proof: branding.Unknown,
		Route: branding.Unknown,
	}, true); s.Status != branding.Suspended {
		t.Errorf("%s by a look that could not be made", s.Status)
	}
	if s = s.After(branding.DNSCheck{
		At: began.Add(2*week + 2*time.Hour), Proof: branding.Missing,
		Route: branding.Missing,
	}, true); s.Status != branding.Removed {
		t.Errorf("%s a week later", s.Status)
	}
}

func TestAYoungClaimIsLookedAtByTheMinuteAndAnOldOneByTheHour(t *testing.T) {
	t.Parallel()
	s, now, looks := branding.Standing{Status: branding.PendingDNS, ClaimedAt: began}, began, map[int]int{}
	for s.Status == branding.PendingDNS {
		s = s.After(branding.DNSCheck{At: now, Proof: branding.Missing, Route: branding.Missing}, true)
		looks[int(now.Sub(began).Hours())/24]++
		now = s.NextCheckAt
	}
	if looks[0] < 24 || looks[0] > 48 {
		t.Errorf("%d checks on the first day, want 24 to 48: %v", looks[0], looks)
	}
	if looks[3] < 23 || looks[3] > 25 {
		t.Errorf("%d checks on the fourth day, want 23 to 25: %v", looks[3], looks)
	}
	if s.Status != branding.Removed {
		t.Errorf("status %s, want %s", s.Status, branding.Removed)
	}
	if life := now.Sub(began); life < branding.ClaimLife {
		t.Errorf("the claim ends after %s, want at least %s", life, branding.ClaimLife)
	}
}
