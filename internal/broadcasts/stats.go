package broadcasts

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
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

// out returns the number of emails that have left, as far as is known.
func (s *BroadcastStats) out() int { return s.Sent + s.Unknown }

// Stats returns what became of the emails of a broadcast, by variant. If there is no such broadcast, the error is a
// not_found fault.
func Stats(ctx context.Context, tx *postgres.Tx, i id.ID) ([]BroadcastStats, error) {
	if _, err := Get(ctx, tx, i, true); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		SELECT variant, count(*) FILTER (WHERE status IN ('scheduled', 'planned', 'transmitting')),
			count(*) FILTER (WHERE status = 'sent'), count(*) FILTER (WHERE status = 'unknown'),
			count(*) FILTER (WHERE status IN ('failed', 'cancelled')), count(delivered_at), count(bounced),
			count(complained_at), count(replied_at), count(*) FILTER (WHERE clicks > 0),
			count(*) FILTER (WHERE opens > 0), coalesce(sum(machine_clicks), 0), coalesce(sum(machine_opens), 0),
			min(marked_at)
		FROM email WHERE org_id = $1 AND broadcast_id = $2 GROUP BY variant ORDER BY variant`, tx.Org(), i)
	if err != nil {
		return nil, fmt.Errorf("count emails of broadcast: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s BroadcastStats, err error) {
		return s, row.Scan(&s.Variant, &s.Planned, &s.Sent, &s.Unknown, &s.Failed, &s.Delivered, &s.Bounced,
			&s.Complained, &s.Replied, &s.Clicked, &s.Opened, &s.MachineClicks, &s.MachineOpens, &s.first)
	})
	if err != nil {
		return nil, fmt.Errorf("count emails of broadcast: %w", err)
	}
	compare(all, time.Now())
	return all, nil
}

// compare sets the rates, and PBest if the mail has variants that can be compared.
func compare(all []BroadcastStats, now time.Time) {
	arms, first := make([]significance.Arm, len(all)), make([]*time.Time, len(all))
	for i := range all {
		s := &all[i]
		s.ReplyRate, s.ClickRate = stats.RateOf(s.Replied, s.out()), stats.RateOf(s.Clicked, s.out())
		s.BounceRate = stats.RateOf(s.Bounced, s.out())
		arms[i], first[i] = significance.Arm{Trials: s.out(), Successes: min(s.Clicked, s.out())}, s.first
	}
	for i, p := range stats.Compare(arms, first, now) {
		all[i].PBest = &p
	}
}

// Erase queues the removal of a contact from the audiences of broadcasts.
func Erase(tx *postgres.Tx, contact id.ID) {
	tx.Queue(`DELETE FROM broadcast_recipient WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
}
