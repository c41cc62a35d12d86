package connect

import (
	"slices"
	"time"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
)

// The states of a reseller's account. Only an enabled account can sell.
const (
	NotStarted    = "not_started"
	Onboarding    = "onboarding"     // the owner has not submitted all details to Stripe
	PendingReview = "pending_review" // Stripe reviews the account
	Restricted    = "restricted"     // the owner has to act, or Stripe has rejected the account
	Enabled       = "enabled"
	Disconnected  = "disconnected" // the owner or Stripe has revoked our access
)

// Facts are the properties of an account that Stripe reports.
type Facts struct {
	Gone                      bool // can no longer be read
	Details, Charges, Payouts bool
	CardPayments, Transfers   string // statuses of the capabilities; "": not requested
	Due, PastDue, Pending     []string
	Deadline                  *time.Time
	Disabled                  string // why charges or payouts are disabled; "": enabled
}

// factsOf returns the Facts of a Stripe account.
func factsOf(a *stripe.Account) Facts {
	f := Facts{Gone: a.Deleted, Details: a.DetailsSubmitted, Charges: a.ChargesEnabled, Payouts: a.PayoutsEnabled}
	if c := a.Capabilities; c != nil {
		f.CardPayments = string(c.CardPayments)
		f.Transfers = string(c.Transfers)
	}
	if r := a.Requirements; r != nil {
		f.Due = r.CurrentlyDue
		f.PastDue = r.PastDue
		f.Pending = r.PendingVerification
		f.Disabled = string(r.DisabledReason)
		if r.CurrentDeadline != 0 {
			at := billing.UnixTime(r.CurrentDeadline)
			f.Deadline = &at
		}
	}

	return f
}

// waits are the disabled reasons that Stripe resolves. All other reasons need the owner, or are final.
var waits = []string{"requirements.pending_verification", "under_review", "listed"}

// State returns the account's state. It depends on f only:
//
//	no access                                          disconnected
//	the owner has not submitted the details            onboarding
//	charges and payouts on, capabilities active        enabled, although something may be due by a deadline
//	something due or past due, or another reason       restricted
//	everything else                                    pending_review
func (f *Facts) State() string {
	able := func(status string) bool { return status == string(stripe.AccountCapabilityStatusActive) }
	unasked := f.Transfers == "" || f.Transfers == "unrequested"
	switch {
	case f.Gone:
		return Disconnected
	case !f.Details:
		return Onboarding
	case f.Charges && f.Payouts && able(f.CardPayments) && (able(f.Transfers) || unasked):
		return Enabled
	case len(f.Due)+len(f.PastDue) > 0, f.Disabled != "" && !slices.Contains(waits, f.Disabled):
		return Restricted
	default:
		return PendingReview
	}
}

// sameRow reports whether f and o would be stored as the same row.
func (f *Facts) sameRow(o *Facts) bool {
	if (f.Deadline == nil) != (o.Deadline == nil) || f.Deadline != nil && !f.Deadline.Equal(*o.Deadline) {
		return false
	}
	return f.Gone == o.Gone && f.Details == o.Details && f.Charges == o.Charges && f.Payouts == o.Payouts &&
		f.CardPayments == o.CardPayments && f.Transfers == o.Transfers && f.Disabled == o.Disabled &&
		slices.Equal(f.Due, o.Due) && slices.Equal(f.PastDue, o.PastDue) && slices.Equal(f.Pending, o.Pending)
}

// openRequirements returns the requirements that the owner has to fulfil, sorted and without duplicates.
func (f *Facts) openRequirements() []string {
	all := slices.Concat(f.PastDue, f.Due)
	slices.Sort(all)
	return slices.Compact(all)
}

// orEmpty returns all, or an empty slice if all is nil.
func orEmpty(all []string) []string {
	if all == nil {
		return []string{}
	}
	return all
}
