package platformretention

import (
	"fmt"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Keep is for how many days data is kept. Without a setting it is 31 days, and 365 for mail.
type Keep struct {
	Events     Days // the event feed
	Deliveries Days // of webhooks
	Attempts   Days // of deliveries
	Mail       Days // contents of emails and incoming mails
}

// How many days data is kept by default.
const (
	usualDays = 31
	usualMail = 365
)

// The fewest days. The event feed reaches back 30 days, and a replay reads the deliveries of as many; an attempt is
// shown with its delivery, which is retried for up to four days.
const (
	fewestDays     = 31
	fewestAttempts = 7
	fewestMail     = 30
	mostDays       = 3660
)

// Check returns an error that names the setting that is out of range, or that names a plan which is not in the
// catalogue.
func (k *Keep) Check(catalogue *plans.Catalogue) error {
	for _, c := range []struct {
		name   string
		days   *Days
		fewest int
	}{
		{"FUNNELWORK_RETAIN_EVENTS", &k.Events, fewestDays},
		{"FUNNELWORK_RETAIN_DELIVERIES", &k.Deliveries, fewestDays},
		{"FUNNELWORK_RETAIN_ATTEMPTS", &k.Attempts, fewestAttempts},
		{"FUNNELWORK_RETAIN_MAIL", &k.Mail, fewestMail},
	} {
		if err := c.days.checkRange(c.fewest, catalogue); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}

	return nil
}

// queueDays queues the days of the partitioned tables: the longest of all plans. A table without a setting keeps the
// days that it has, but events at least the days of deliveries.
func (k *Keep) queueDays(tx *postgres.Tx) {
	for table, days := range map[string]int{
		"event": k.Events.longest(0), "webhook_delivery": k.Deliveries.longest(0),
		"webhook_attempt": k.Attempts.longest(0),
	} {
		if days > 0 {
			tx.Queue(`UPDATE partitioned SET keep_days = $2 WHERE name = $1 AND keep_days <> $2`, table, days)
		}
	}
	tx.Queue(`UPDATE partitioned e SET keep_days = d.keep_days FROM partitioned d
		WHERE e.name = 'event' AND d.name = 'webhook_delivery' AND e.keep_days < d.keep_days`)
}
