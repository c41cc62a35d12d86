package worker_test

import (
	"flag"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/broadcasts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
)

// limited is how many contacts get a broadcast through a provider's limit of 100 mails a day.
var limited = flag.Int("limited", 250, "contacts that get a broadcast through a provider's daily limit of 100")

// dailyLimit is a provider's.
const dailyLimit = 100

// TestABroadcastGoesThroughAProvidersDailyLimit sends a broadcast by a server that takes 100 mails a day, and lets a
// day pass whenever the mailbox is held for it.
func TestABroadcastGoesThroughAProvidersDailyLimit(t *testing.T) {
	t.Parallel()
	p := openMailer(t)
	p.exec(`UPDATE mailbox SET daily_cap = NULL, gap_min = 0, gap_max = 0`)
	p.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
			created_at, updated_at)
		SELECT $1, gen_random_uuid(), 'a' || n || '@example.com', 'a' || n || '@example.com', 'A', 'B', 'b', 'lead',
			now(), now() FROM generate_series(1, $2) n`, p.org, *limited)
	p.exec(`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, segments,
		scored_at) SELECT org_id, id, 0, 0, 'test', 'prior', 0, '{}', now() FROM contact`)
	var today atomic.Int64
	p.server.Fail(func(string) smtpd.Fault {
		if today.Add(1) <= dailyLimit {
			return smtpd.Fault{}
		}
		return smtpd.Fault{
			At: smtpd.Rcpt, Code: 550, Class: smtp.EnhancedCode{5, 4, 5}, Text: "Daily user sending limit exceeded.",
		}
	})
	_, news := p.schedule()
	running := p.process(broadcasting)
	defer func() { kill(running) }()
	days := 0
	for begun := time.Now(); p.text(`SELECT status FROM broadcast`) != broadcasts.Sent; {
		if time.Since(begun) > 2*time.Minute+time.Duration(*limited)*200*time.Millisecond {
			t.Fatalf("after %d days: %s", days, p.statuses())
		}
		p.number(`SELECT 1 FROM pg_sleep(0.2)`)
		p.exec(`UPDATE job SET run_at = now() WHERE kind = 'broadcast.prepare' AND owner IS NULL AND run_at > now()`)
		if p.number(`SELECT count(*) FROM mailbox WHERE status = 'held' AND held_until > now()`) == 0 {
			continue
		}
		p.isHeld(news)
		days++
		p.exec(`UPDATE email SET marked_at = marked_at - interval '25 hours', due_at = due_at - interval '25 hours'`)
		today.Store(0)
		p.exec(`UPDATE mailbox SET held_until = now() - interval '1 second' WHERE held_until IS NOT NULL`)
		p.exec(`UPDATE job_line SET held_until = now() WHERE held_until > now()`)
		p.exec(`UPDATE job SET run_at = now() WHERE kind LIKE 'email.send%' AND owner IS NULL AND run_at > now()`)
	}
	if least := (*limited - 1) / dailyLimit; days < least {
		t.Errorf("the mailbox was held %d times, want %d", days, least)
	}
	if got, want := p.number(`SELECT count(*) FROM email WHERE status = 'sent'`), *limited; got != want {
		t.Errorf("%d of %d emails are sent: %s", got, want, p.statuses())
	}
	if p.number(`SELECT count(*) FROM suppression`) != 0 {
		t.Error("an address is suppressed")
	}
	p.reached(*limited)
}

// isHeld checks what the broadcast shows while its mailbox is held for the provider's limit.
func (p *mailer) isHeld(news id.ID) {
	p.t.Helper()
	ctx := p.t.Context()
	if err := p.db.App.Tx(ctx, p.org, func(tx *postgres.Tx) error {
		row, err := broadcasts.Get(ctx, tx, news, false)
		if err != nil {
			return err
		}
		all, err := broadcasts.States(ctx, tx, []broadcasts.Row{row})
		if err != nil {
			return err
		}
		s := &all[0]
		if s.Status != broadcasts.Held || s.StatusReason == nil || *s.StatusReason != mailboxes.SendingLimit ||
			!strings.Contains(*s.StatusDetail, "550 5.4.5 Daily user sending limit "+
				"exceeded.") || s.StatusAction == nil {
			p.t.Errorf("the broadcast is %s: %+v", s.Status, s.Wait)
		}
		held, err := broadcasts.Count(ctx, tx, false, broadcasts.Held)
		if err != nil {
			return err
		}
		sending, err := broadcasts.Count(ctx, tx, false, broadcasts.Sending)
		if held != 1 || sending != 0 {
			p.t.Errorf("%d broadcasts are held and %d sending", held, sending)
		}
		return err
	}); err != nil {
		p.t.Fatal(err)
	}
}
