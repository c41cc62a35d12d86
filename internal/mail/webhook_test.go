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
		if m.To != "ada@example.com" {
			t.Errorf("%s: to %q, want ada@example.com", name, m.To)
		}
		if strings.ContainsAny(m.Subject, "\r\n<") {
			t.Errorf("%s: subject %q has a line break or a tag", name, m.Subject)
		}
		if strings.Contains(m.Text, "\r") {
			t.Errorf("%s: text %q has a carriage return", name, m.Text)
		}
		if want := "example.\u2060com:8443 (<b>shop</b> Bcc: a@example.\u2060com)"; !strings.Contains(m.Text, want) {
			t.Errorf("%s: text %q, want %q in it", name, m.Text, want)
		}
		if strings.Contains(m.HTML, "<b>") {
			t.Errorf("%s: HTML %q has a tag of the caller", name, m.HTML)
		}
		if want := "&lt;b&gt;shop"; !strings.Contains(m.HTML, want) {
			t.Errorf("%s: HTML %q, want %q in it", name, m.HTML, want)
		}
		if (name == "gone") != strings.Contains(m.Text, "410 Gone") ||
			(name == "failing") != strings.Contains(m.Text, "since 20 November 2026, 09:05 UTC; 23 events") {
			t.Errorf("%s: %s", name, m.Text)
		}
	}
}
