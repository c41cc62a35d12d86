package mail_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/mail"
)

// linkable matches what mail programs turn into a link: a scheme with an authority, or a host with a top-level domain.
var linkable = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://|[\pL\pN-]+[.\x{3002}\x{ff0e}\x{ff61}][\pL\pN]`)

// TestNoNameInAMailBecomesALink puts names that are links or contain line breaks into every mail.
func TestNoNameInAMailBecomesALink(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"https://evil.example/login?x=1", "www.evil.example", "pay at evil.example now", "a.b.c.d.evil.example",
		"http://2130706433/", "evil\u3002example", "EVIL.EXAMPLE:8080/x", "www.4chan.example", "ftp://evil",
		"müller.example",
		"one\r\nBcc: victim@evil.example", "one\nhttps://evil.example", "one\u2028evil.example",
		"one\u0085evil.example",
	} {
		w := mail.Webhook{Host: "hook.example", Description: name, Events: 3, Since: time.Unix(0, 0), Percent: 90}
		all := map[string]mail.Message{
			"reset":    mail.Reset("bob@to.example", "https://crm.test", "tok"),
			"verify":   mail.Verify("bob@to.example", "https://crm.test", "tok"),
			"invite":   mail.Invite("bob@to.example", "https://crm.test", "tok", name),
			"lost":     mail.AccountsLost("bob@to.example", name, []string{name, name}),
			"end":      mail.AccountsEnd("bob@to.example", name, []string{name}, time.Unix(0, 0)),
			"failing":  mail.WebhookFailing("bob@to.example", w),
			"disabled": mail.WebhookDisabled("bob@to.example", w, true),
		}
		for kind, m := range all {
			for look, dress := range map[string]func(){"plain": func() {}, "dressed": func() {
				m.Dress(mail.Theme{Name: name, PoweredBy: name})
			}} {
				dress()
				for part, text := range map[string]string{"subject": m.Subject, "text": m.Text, "html": shown(m.HTML)} {
					own := strings.ReplaceAll(text, m.Letter.Target, "")
					if m.Letter.Target == "" {
						own = text
					}
					if found := linkable.FindString(own); found != "" {
						t.Errorf("%q in the %s of %s, %s: %q is a link in %q", name, part, kind, look, found, own)
					}
				}
				if strings.ContainsAny(m.Subject, "\r\n\u2028\u2029\u0085") {
					t.Errorf("%q: the subject of %s, %s, has a line end: %q", name, kind, look, m.Subject)
				}
			}
		}
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

// shown returns the text of a page without its tags.
func shown(page string) string { return html.UnescapeString(tags.ReplaceAllString(page, " ")) }

func TestANameInAMailReadsAsItWasGiven(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Acme Inc. & Sons": "Acme Inc. & Sons", "evil.example": "evil.\u2060example",
		"https://evil.example": "https:\u2060//evil.\u2060example",
		"Dr. No":               "Dr. No", "...": "...", " a \t b ": "a b",
	} {
		m := mail.Invite("bob@to.example", "https://crm.test", "tok", name)
		if got := m.Subject; got != "You are invited to “"+want+"” on Funnelwork" {
			t.Errorf("%q: subject %q", name, got)
		}
	}
}
