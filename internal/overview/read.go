package overview

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Overview is what happened in an org from one day to another, both included. Days are in UTC.
type Overview struct {
	From       string      `json:"from" format:"date" doc:"First day of the range"`
	To         string      `json:"to" format:"date" doc:"Last day of the range, inclusive"`
	Contacts   Contacts    `json:"contacts" doc:"Numbers of contacts"`
	Deals      DealSums    `json:"deals" doc:"Numbers and total amounts of deals by status and currency"`
	Webhooks   Webhooks    `json:"webhooks" doc:"Numbers of webhook deliveries of the range"`
	Emails     Emails      `json:"emails" doc:"Numbers of emails of the range"`
	Series     []Day       `json:"series" nullable:"false" doc:"Every day of the range, oldest first"`
	Onboarding []FirstStep `json:"onboarding" nullable:"false" doc:"First steps, in the order in which they are useful"`
}

// Contacts counts contacts.
type Contacts struct {
	Total int64 `json:"total" doc:"Live contacts"`
	New   int64 `json:"new" doc:"Live contacts created in the range"`
}

// DealSums has the deals by status and currency.
type DealSums struct {
	Open []CurrencySum `json:"open" nullable:"false" doc:"Deals that are open now"`
	Won  []CurrencySum `json:"won" nullable:"false" doc:"Deals closed as won in the range"`
	Lost []CurrencySum `json:"lost" nullable:"false" doc:"Deals closed as lost in the range"`
}

// CurrencySum is a number of deals in one currency and their total amount.
type CurrencySum struct {
	Currency string `json:"currency" doc:"Currency of amount, ISO 4217"`
	Count    int64  `json:"count" doc:"Number of these deals"`
	Amount   int64  `json:"amount" doc:"Sum of the deals' amounts, in minor units of the currency"`
}

// Webhooks counts the deliveries that were created in the range.
type Webhooks struct {
	Delivered int64 `json:"delivered" doc:"Deliveries that a subscriber has accepted"`
	Failed    int64 `json:"failed" doc:"Deliveries that wait for a retry or have no further one"`
}

// Emails counts the emails of the range.
type Emails struct {
	Sent    int64 `json:"sent" doc:"Emails sent in the range"`
	Replied int64 `json:"replied" doc:"Replies received in the range"`
}

// Day has the counts of one day.
type Day struct {
	Day              string `json:"day" format:"date" doc:"The day in UTC"`
	Contacts         int64  `json:"contacts" doc:"Contacts created on the day that are live"`
	DealsWon         int64  `json:"deals_won" doc:"Deals closed as won on the day"`
	Deliveries       int64  `json:"deliveries" doc:"Webhook deliveries of the day's events that were delivered"`
	DeliveryFailures int64  `json:"delivery_failures" doc:"Webhook deliveries of the day's events that failed"`
	EmailsSent       int64  `json:"emails_sent" doc:"Emails sent on the day"`
	Replies          int64  `json:"replies" doc:"Replies received on the day"`
}

// Read returns the overview of tx's org. from and to are days in UTC; to is not before from.
func Read(ctx context.Context, tx *postgres.Tx, from, to time.Time) (*Overview, error) {
	o := &Overview{
		From: from.Format(time.DateOnly), To: to.Format(time.DateOnly), Series: []Day{}, Onboarding: []FirstStep{},
		Deals: DealSums{Open: []CurrencySum{}, Won: []CurrencySum{}, Lost: []CurrencySum{}},
	}
	tx.Queue(planningRead)
	tx.Queue(`SELECT coalesce(sum(contacts), 0)::bigint FROM day_count WHERE org_id = $1`, tx.Org()).
		QueryRow(func(row pgx.Row) error { return row.Scan(&o.Contacts.Total) })
	tx.Queue(seriesSQL, tx.Org(), from, to).Query(func(rows pgx.Rows) error {
		var d Day
		_, err := pgx.ForEachRow(rows, []any{
			&d.Day, &d.Contacts, &d.DealsWon, &d.Deliveries, &d.DeliveryFailures, &d.EmailsSent, &d.Replies,
		}, func() error {
			o.addDay(d)
			return nil
		})
		return err
	})
	tx.Queue(dealsSQL, tx.Org(), from, to).Query(func(rows pgx.Rows) error {
		var (
			status string
			s      CurrencySum
		)

		of := map[string]*[]CurrencySum{"open": &o.Deals.Open, "won": &o.Deals.Won, "lost": &o.Deals.Lost}
		_, err := pgx.ForEachRow(rows, []any{&status, &s.Currency, &s.Count, &s.Amount}, func() error {
			if list := of[status]; list != nil {
				*list = append(*list, s)
			}
			return nil
		})

		return err
	})
	if err := o.readOnboarding(ctx, tx); err != nil {
		return nil, fmt.Errorf("read overview: %w", err)
	}

	return o, nil
}

// planningRead makes plans for the days that are asked for. contact holds the rows of all orgs.
const planningRead = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('plan_cache_mode', 'force_custom_plan', true)`

const seriesSQL = `
SELECT to_char(d.day, 'YYYY-MM-DD'), coalesce(c.contacts, 0), coalesce((SELECT sum(w.deals) FROM day_deals w
		WHERE w.org_id = $1 AND w.day = d.day AND w.status = 'won'), 0)::bigint,
	coalesce(c.deliveries, 0), coalesce(c.delivery_failures, 0), coalesce(c.emails_sent, 0), coalesce(c.replies, 0)
FROM (SELECT $2::date + n AS day FROM generate_series(0, $3::date - $2::date) AS n) AS d
LEFT JOIN day_count c ON c.org_id = $1 AND c.day = d.day AND c.day BETWEEN $2::date AND $3::date ORDER BY d.day`

const dealsSQL = `SELECT status, currency, sum(deals)::bigint, least(sum(amount), 9223372036854775807)::bigint
FROM day_deals WHERE org_id = $1 AND (day BETWEEN $2::date AND $3::date OR day = 'infinity')
GROUP BY status, currency ORDER BY status, currency`

// addDay appends a day to the series and adds it to the totals.
func (o *Overview) addDay(d Day) {
	o.Series = append(o.Series, d)
	o.Contacts.New += d.Contacts
	o.Webhooks.Delivered += d.Deliveries
	o.Webhooks.Failed += d.DeliveryFailures
	o.Emails.Sent += d.EmailsSent
	o.Emails.Replied += d.Replies
}
