package broadcasts

import (
	"context"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/counts"
	"github.com/funnelwork/funnelwork/internal/sequences/significance"
	"github.com/funnelwork/funnelwork/internal/sequences/stats"
)

// BroadcastStats is what became of the emails of one variant.
type BroadcastStats struct {
	Variant       *string `json:"variant" doc:"Key of the variant; null: the mail has none"`
	Planned       int     `json:"planned" doc:"Emails that are not settled"`
	Sent          int     `json:"sent" doc:"Emails that the server accepted"`
	Unknown       int     `json:"unknown" doc:"Emails whose fate is not known"`
	Failed        int     `json:"failed" doc:"Emails that the server refused, or that were cancelled"`
	Delivered     int     `json:"delivered" doc:"Emails whose delivery was confirmed"`
	Bounced       int     `json:"bounced" doc:"Emails that came back"`
	Complained    int     `json:"complained" doc:"Emails that were reported as spam"`
	Replied       int     `json:"replied" doc:"Emails that a person replied to"`
	Clicked       int     `json:"clicked" doc:"Emails with a click by a person"`
	Opened        int     `json:"opened" doc:"Emails with an open by a person"`
	MachineClicks int     `json:"machine_clicks" doc:"Clicks by scanners"`
	MachineOpens  int     `json:"machine_opens" doc:"Opens by proxies and scanners"`

	ReplyRate  stats.Rate `json:"reply_rate" doc:"Share of the emails that were replied to"`
	ClickRate  stats.Rate `json:"click_rate" doc:"Share of the emails with a click by a person"`
	BounceRate stats.Rate `json:"bounce_rate" doc:"Share of the emails that came back"`
	PBest      *float64   `json:"p_best"`

	first *time.Time // when the first email was marked
}

// Descriptions implements wire.Describer.
func (BroadcastStats) Descriptions() map[string]string {
	return map[string]string{
		"p_best": "Probability that the variant has the highest share of clicks by people of all; null: no variants, " +
			"or fewer than 200 emails of one, or less than 24 hours. Below 0.95 no difference is shown",
	}
}

// sentOrUnknown returns the number of emails that have left, as far as is known.
func (s *BroadcastStats) sentOrUnknown() int { return s.Sent + s.Unknown }

// Stats returns what became of the emails of a broadcast, by variant. If there is no such broadcast, the error is a
// not_found fault.
func Stats(ctx context.Context, tx *postgres.Tx, i id.ID) ([]BroadcastStats, error) {
	if _, err := Get(ctx, tx, i, true); err != nil {
		return nil, err
	}
	found, err := counts.Read(ctx, tx, i)
	if err != nil {
		return nil, err
	}
	all := make([]BroadcastStats, len(found[i].Emails))
	for n := range all {
		all[n] = variantStats(&found[i].Emails[n])
	}
	slices.SortStableFunc(all, func(a, b BroadcastStats) int { // no variant comes last
		switch {
		case (a.Variant == nil) == (b.Variant == nil):
			return 0
		case a.Variant == nil:
			return 1
		default:
			return -1
		}
	})
	setRates(all, time.Now())

	return all, nil
}

// variantStats returns the counts of a variant.
func variantStats(c *counts.Emails) BroadcastStats {
	return BroadcastStats{
		Variant: c.Variant, Planned: c.Waiting + c.Transmitting, Sent: c.Sent, Unknown: c.Unknown,
		Failed: c.Failed + c.Cancelled, Delivered: c.Delivered, Bounced: c.Bounced, Complained: c.Complained,
		Replied: c.Replied, Clicked: c.Clicked, Opened: c.Opened, MachineClicks: c.MachineClicks,
		MachineOpens: c.MachineOpens, first: c.First,
	}
}

// setRates sets the rates, and PBest if the mail has variants that can be compared.
func setRates(all []BroadcastStats, now time.Time) {
	arms, first := make([]significance.Arm, len(all)), make([]*time.Time, len(all))
	for i := range all {
		s := &all[i]
		sent := s.sentOrUnknown()
		s.ReplyRate = stats.RateOf(s.Replied, sent)
		s.ClickRate = stats.RateOf(s.Clicked, sent)
		s.BounceRate = stats.RateOf(s.Bounced, sent)
		arms[i] = significance.Arm{Trials: sent, Successes: min(s.Clicked, sent)}
		first[i] = s.first
	}
	for i, p := range stats.Compare(arms, first, now) {
		all[i].PBest = &p
	}
}

// Erase queues the removal of a contact from the audiences of broadcasts.
func Erase(tx *postgres.Tx, contact id.ID) {
	tx.Queue(`DELETE FROM broadcast_recipient WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
}
