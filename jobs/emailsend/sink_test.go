package emailsend_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// TestAgainstPostfixsSinkEachFaultHasItsOutcome sends through Postfix's smtp-sink, which refuses each command for good
// (-f) or for now (-r), or closes the connection (-q).
func TestAgainstPostfixsSinkEachFaultHasItsOutcome(t *testing.T) {
	t.Parallel()
	const retried, postponed = "planned, retried", "planned, postponed"
	for name, c := range map[string]struct {
		options []string
		want    string
	}{
		"takes it":                   {nil, "sent"},
		"takes it slowly":            {[]string{"-w", "1"}, "sent"},
		"no ESMTP":                   {[]string{"-e"}, "sent"},
		"without a greeting":         {[]string{"-q", "connect"}, retried},
		"greets with a no":           {[]string{"-f", "connect"}, postponed},
		"refuses EHLO and HELO":      {[]string{"-f", "ehlo,helo"}, postponed},
		"MAIL refused":               {[]string{"-f", "mail"}, "failed rejected"},
		"MAIL refused for now":       {[]string{"-r", "mail"}, retried},
		"hangs up at MAIL":           {[]string{"-q", "mail"}, retried},
		"RCPT refused":               {[]string{"-f", "rcpt"}, "failed rejected"},
		"RCPT refused for now":       {[]string{"-r", "rcpt"}, retried},
		"hangs up at RCPT":           {[]string{"-q", "rcpt"}, retried},
		"DATA refused":               {[]string{"-f", "data"}, "failed rejected"},
		"DATA refused for now":       {[]string{"-r", "data"}, retried},
		"hangs up at DATA":           {[]string{"-q", "data"}, retried},
		"refuses after the dot":      {[]string{"-f", "."}, "failed rejected"},
		"refuses the dot for now":    {[]string{"-r", "."}, retried},
		"hangs up with the dot":      {[]string{"-q", "."}, "unknown no_reply"},
		"turns the mailbox away":     {[]string{"-r", "rcpt", "-b", "421 4.7.0 slow down"}, postponed},
		"says that nobody is there":  {[]string{"-f", "rcpt", "-B", "550 5.1.1 no such user"}, "failed rejected"},
		"hangs up at QUIT":           {[]string{"-q", "quit"}, "sent"},
		"refuses QUIT for no reason": {[]string{"-f", "quit"}, "sent"},
		"no 8BITMIME":                {[]string{"-8"}, "sent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port := testkit.SMTPSink(t, c.options...)
			p := open(t)
			p.exec(`UPDATE mailbox SET smtp_port = $1`, port)
			email := p.write("ada@example.com")
			err := p.run(t.Context(), email)
			got := p.status(email)
			switch {
			case got != "planned":
			case snoozed(err):
				got = postponed
			case err != nil:
				got = retried
			}
			if got != c.want {
				t.Errorf("%s, want %s (%v)", got, c.want, err)
			}
		})
	}
}
