package platformretention

import (
	"errors"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Keep is for how many days data is kept, for all orgs alike. 0 leaves the default: 31 days, and 365 for mail.
type Keep struct {
	Events     int // the event feed
	Deliveries int // of webhooks
	Attempts   int // of deliveries
	Mail       int // contents of emails and incoming mails
}

// usualMail is how many days mail is kept by default.
const usualMail = 365

// The fewest days. The event feed reaches back 30 days, and a replay reads the deliveries of as many; an attempt is
// shown with its delivery, which is retried for up to four days.
const (
	fewestDays     = 31
	fewestAttempts = 7
	fewestMail     = 30
	mostDays       = 3660
)

// Check returns an error that names the setting that is out of range.
func (k Keep) Check() error {
	for _, c := range []struct {
		name         string
		days, fewest int
	}{
		{"FUNNELWORK_RETAIN_EVENTS", k.Events, fewestDays},
		{"FUNNELWORK_RETAIN_DELIVERIES", k.Deliveries, fewestDays},
		{"FUNNELWORK_RETAIN_ATTEMPTS", k.Attempts, fewestAttempts},
		{"FUNNELWORK_RETAIN_MAIL", k.Mail, fewestMail},
	} {
		if c.days != 0 && (c.days < c.fewest || c.days > mostDays) {
			return fmt.Errorf("%s: want %d to %d days", c.name, c.fewest, mostDays)
		}
	}
	if k.Events != 0 && k.Deliveries > k.Events {
		return errors.New("FUNNELWORK_RETAIN_DELIVERIES: a delivery is not kept longer than its event")
	}
	return nil
}

// apply queues the days of the partitioned tables. A table without a setting keeps the days that it has.
func (k Keep) apply(tx *postgres.Tx) {
	for table, days := range map[string]int{
		"event": k.Events, "webhook_delivery": k.Deliveries, "webhook_attempt": k.Attempts,
	} {
		if days > 0 {
			tx.Queue(`UPDATE partitioned SET keep_days = $2 WHERE name = $1 AND keep_days <> $2`, table, days)
		}
	}
}
