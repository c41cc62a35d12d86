package connect_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing/connect"
)

// TestTheStateOfAnAccountFollowsFromWhatStripeSaysOfIt: the state depends only on the last reading, not on the previous
// state.
func TestTheStateOfAnAccountFollowsFromWhatStripeSaysOfIt(t *testing.T) {
	t.Parallel()
	deadline := time.Date(2026, 8, 17, 12, 0, 0, 0, time.UTC)
	able := connect.Facts{Details: true, Charges: true, Payouts: true, CardPayments: "active", Transfers: "active"}
	with := func(change func(*connect.Facts)) connect.Facts { f := able; change(&f); return f }
	off := func(change func(*connect.Facts)) connect.Facts {
		return with(func(f *connect.Facts) {
			f.Charges, f.Payouts, f.CardPayments, f.Transfers = false, false, "inactive", "inactive"
			change(f)
		})
	}
	due := []string{"company.tax_id"}
	for name, c := range map[string]struct {
		f    connect.Facts
		want string
	}{
		"access taken away":                  {connect.Facts{Gone: true}, connect.Disconnected},
		"access taken away from an able one": {with(func(f *connect.Facts) { f.Gone = true }), connect.Disconnected},
		"just made": {connect.Facts{
			CardPayments: "inactive", Due: due,
			Disabled: "requirements.past_due",
		}, connect.Onboarding},
		"charges before the details":     {with(func(f *connect.Facts) { f.Details = false }), connect.Onboarding},
		"all in order":                   {able, connect.Enabled},
		"transfers were never asked for": {with(func(f *connect.Facts) { f.Transfers = "" }), connect.Enabled},
		"transfers are not requested": {with(func(f *connect.Facts) {
			f.Transfers = "unrequested"
		}), connect.Enabled},
		"due by a deadline": {with(func(f *connect.Facts) {
			f.Due, f.Deadline = due, &deadline
		}), connect.Enabled},
		"charges, and payouts off": {with(func(f *connect.Facts) {
			f.Payouts, f.PastDue = false, due
		}), connect.Restricted},
		"payouts, and charges off": {with(func(f *connect.Facts) {
			f.Charges, f.Due = false, due
		}), connect.Restricted},
		"no card payments": {with(func(f *connect.Facts) {
			f.CardPayments, f.Due = "inactive", due
		}), connect.Restricted},
		"card payments looked at": {with(func(f *connect.Facts) {
			f.CardPayments = "pending"
		}), connect.PendingReview},
		"transfers looked at": {with(func(f *connect.Facts) {
			f.Transfers = "pending"
		}), connect.PendingReview},
		"past due": {off(func(f *connect.Facts) {
			f.PastDue, f.Disabled = due, "requirements.past_due"
		}), connect.Restricted},
		"due, without a reason": {off(func(f *connect.Facts) { f.Due = due }), connect.Restricted},
		"verified, while something is due": {off(func(f *connect.Facts) {
			f.Pending, f.Due = due, due
		}), connect.Restricted},
		"verified": {off(func(f *connect.Facts) {
			f.Pending, f.Disabled = due, "requirements.pending_verification"
		}), connect.PendingReview},
		"verified, without a reason": {off(func(f *connect.Facts) { f.Pending = due }), connect.PendingReview},
		"under review": {off(func(f *connect.Facts) {
			f.Disabled = "under_review"
		}), connect.PendingReview},
		"on a list that Stripe goes through": {off(func(f *connect.Facts) {
			f.Disabled = "listed"
		}), connect.PendingReview},
		"rejected": {off(func(f *connect.Facts) {
			f.Disabled = "rejected.fraud"
		}), connect.Restricted},
		"paused by the platform": {off(func(f *connect.Facts) {
			f.Disabled = "platform_paused"
		}), connect.Restricted},
		"a reason that nobody has heard of": {off(func(f *connect.Facts) {
			f.Disabled = "tomorrow.s_word"
		}), connect.Restricted},
		"submitted a moment ago": {off(func(*connect.Facts) {}), connect.PendingReview},
	} {
		if got := c.f.State(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
