package mail_test

import (
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/mail"
)

func TestAMailAboutAWebhookEscapesWhatTheOrgWroteAndStaysOnOneLine(t *testing.T) {
	t.Parallel()
	w := mail.Webhook{
		Host: "example.com:8443", Description: "<b>shop</b>\r\nBcc: a@example.com", Events: 23,
		Since: time.Date(2026, 11, 20, 9, 5, 0, 0, time.UTC), Percent: 90,
	}
	for name, m := range map[string]mail.Message{
		"failing":  mail.WebhookFailing("ada@example.com", w),
		"disabled": mail.WebhookDisabled("ada@example.com", w, false),
		"gone":     mail.WebhookDisabled("ada@example.com", w, true),
	} {
		if m.To != "ada@example.com" || strings.ContainsAny(m.Subject, "\r\n<") || strings.Contains(m.Text, "\r") ||
			strings.Contains(m.HTML, "<b>") ||
			!strings.Contains(m.HTML, "&lt;b&gt;shop") ||
			!strings.Contains(m.Text, "example.\u2060com:8443 (<b>shop</b> Bcc: a@example.\u2060com)") {
			t.Errorf("%s: %+v", name, m)
		}
		if (name == "gone") != strings.Contains(m.Text, "410 Gone") ||
			(name == "failing") != strings.Contains(m.Text, "since 20 November 2026, 09:05 UTC; 23 events") {
			t.Errorf("%s: %s", name, m.Text)
		}
	}
}
