package mail

import (
	"fmt"
	"time"
)

// Webhook describes a webhook endpoint in a mail.
type Webhook struct {
	Host        string    // of its URL; the rest may contain secrets
	Description string    // written by the org
	Events      int       // failed deliveries
	Since       time.Time // of the first failure
	Percent     int       // threshold of the rule that disables it
}

func (w Webhook) name() string {
	if d := quote(w.Description); d != "" {
		return fmt.Sprintf("%s (%s)", quote(w.Host), d)
	}
	return quote(w.Host)
}

// WebhookFailing returns the mail that warns that an endpoint will be disabled.
func WebhookFailing(to string, w Webhook) Message {
	return notice(to, "Your webhook to "+quote(w.Host)+" is failing",
		fmt.Sprintf("Every delivery to your webhook at %s has failed since %s; %d events could not be delivered.",
			w.name(), w.Since.UTC().Format("2 January 2006, 15:04 UTC"), w.Events),
		fmt.Sprintf("After 5 days of nothing but failures, of at least 20 events, a webhook is disabled. This one "+
			"has come %d %% of the way. One delivery that is answered with a 2xx status ends it.", w.Percent),
		"The list of its deliveries shows each attempt with its status, its timings and the receiver's answer.")
}

// WebhookDisabled returns the mail that reports a disabled endpoint: gone after a 410, otherwise after days of
// failures.
func WebhookDisabled(to string, w Webhook, gone bool) Message {
	why := "After 5 days in which every delivery failed, we disabled your webhook at %s."
	if gone {
		why = "Your webhook at %s answered 410 Gone, which asks us to send nothing more, so we disabled it."
	}
	return notice(to, "Your webhook to "+quote(w.Host)+" was disabled", fmt.Sprintf(why, w.name()),
		"Events go on being recorded for 30 days, and nothing is sent to it. When the receiver is well again, "+
			"enable the webhook, and replay what it missed.")
}

// notice returns a mail without a link. Its paragraphs are escaped.
func notice(to, subject string, paragraphs ...string) Message {
	return addressed(to, Template{Subject: subject, Before: paragraphs})
}
