package provider

import "testing"

func TestWhatAProviderDropsIsWhatItSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider, reason string
		bounced          []string
		kind             string
		permanent        bool
	}{
		{"SendGrid", "Bounced Address", []string{"bounced address"}, Bounced, true},
		{"SendGrid", "Unsubscribed Address", []string{"bounced address"}, Unsubscribed, false},
		{"SendGrid", "Spam Reporting Address", []string{"bounced address"}, Complained, false},
		{"SendGrid", "Invalid SMTPAPI header", []string{"bounced address"}, Bounced, false},
		{"SendGrid", "Recipient List over Package Quota", []string{"bounced address"}, Bounced, false},
		{"SendGrid", "Spam Content", []string{"bounced address"}, Bounced, false},
		{"Mailgun", "suppress-bounce Not delivering to previously bounced " +
			"address", []string{"suppress-bounce"}, Bounced, true},
		{"Mailgun", "suppress-unsubscribe Not delivering to an unsubscribed " +
			"recipient", []string{"suppress-bounce"}, Unsubscribed, false},
		{"Mailgun", "suppress-complaint Not delivering to a user who marked your messages as " +
			"spam", []string{"suppress-bounce"}, Complained, false},
		{"Mailgun", "old Too old", []string{"suppress-bounce"}, Bounced, false},
		{"Amazon SES", "OnAccountSuppressionList", nil, Bounced, false},
		{"Amazon SES", "UnsubscribedRecipient", nil, Unsubscribed, false},
		{"Postmark", "ManuallyDeactivated", nil, Bounced, false},
	} {
		e := Event{Kind: Bounced, Permanent: true, Code: "605"}
		e.dropped(c.reason, c.bounced...)
		if e.Kind != c.kind || e.Permanent != c.permanent {
			t.Errorf("%s, %s: %s, permanent %t", c.provider, c.reason, e.Kind, e.Permanent)
		}
	}
}
