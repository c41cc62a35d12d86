package mailboxes_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func (o *office) judge(mailbox id.ID) {
	o.Helper()
	o.must(func(tx *postgres.Tx) error { return mailboxes.Judge(o.Context(), tx, mailbox, nil) })
}

// ramped creates a mailbox with a ramp that allows n mails.
func (o *office) ramped(n int) id.ID {
	o.Helper()
	box := o.active(func(p *mailboxes.Patch) {
		p.Ramp = wire.Some(mailboxes.RampPatch{Start: wire.Some(n), Step: wire.Some(5)})
	})
	o.judge(box)
	return box
}

func (o *office) allowed() (n int) {
	o.Helper()
	o.scan(`SELECT ramp_allowed FROM mailbox`, &n)
	return n
}

func TestTheHealthDecidesOfTheLast200Mails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sent, hard, soft, complaints int
		status, reason               string
		allowed                      int
	}{
		"none sent":                  {0, 0, 0, 0, "active", "", 20},
		"all delivered":              {300, 0, 0, 0, "active", "", 20},
		"soft bounces":               {150, 0, 50, 0, "active", "", 20},
		"5 % hard":                   {190, 10, 0, 0, "active", "", 20},
		"above 5 %":                  {189, 11, 0, 0, "active", "", 10},
		"below 8 %":                  {185, 15, 0, 0, "active", "", 10},
		"8 %":                        {184, 16, 0, 0, "disabled", "bounce_rate", 10},
		"few mails, two bounces":     {1, 2, 0, 0, "active", "", 20},
		"few mails, four bounces":    {1, 4, 0, 0, "disabled", "bounce_rate", 10},
		"one complaint":              {199, 0, 0, 1, "active", "", 10},
		"two complaints":             {198, 0, 0, 2, "disabled", "complaint_rate", 10},
		"a complaint and 4 % bounce": {191, 8, 0, 1, "active", "", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := open(t)
			box := o.ramped(20)
			o.mails(box, 20, 48*time.Hour, "hard") // before the last 200
			o.mails(box, max(200-c.sent-c.hard-c.soft-c.complaints, 0)*min(c.sent/100, 1), 40*time.Hour, "")
			if c.sent < 100 {
				o.exec(`DELETE FROM email`)
			}
			o.mails(box, c.hard, 30*time.Hour, "hard")
			o.mails(box, c.soft, 30*time.Hour, "soft")
			o.mails(box, c.sent, 29*time.Hour, "")
			o.mails(box, c.complaints, 28*time.Hour, "soft")
			o.exec(`UPDATE email SET complained_at = now(), bounced = NULL
				WHERE marked_at BETWEEN now() - interval '28 h 30 min' AND now() - interval '27 h'`)
			o.judge(box)
			o.judge(box) // a day halves it once
			v := o.get(box)
			var said int
			o.scan(`SELECT count(*) FROM event WHERE type = 'mailbox.disabled'`, &said)
			reason := ""
			if v.StatusReason != nil {
				reason = *v.StatusReason
			}
			if v.Status != c.status || reason != c.reason || o.allowed() != c.allowed ||
				(said == 1) != (c.status != "active") {
				t.Errorf("%s %s, the ramp allows %d, %d events", v.Status, reason, o.allowed(), said)
			}
			if all := c.sent + c.hard + c.soft + c.complaints; all > 0 && all <= 200 {
				if want := float64(c.hard) / float64(all); v.Health.BounceRate == nil || *v.Health.BounceRate != want {
					t.Errorf("shown bounce rate %v, want %v", v.Health.BounceRate, want)
				}
			}
		})
	}
}

func TestAnAddressThatIsRefusedCountsAsABounce(t *testing.T) {
	t.Parallel()
	o := open(t)
	box := o.active(nil)
	o.mails(box, 3, time.Hour, "")
	o.mails(box, 1, time.Minute, "")
	o.must(func(tx *postgres.Tx) error {
		return mailboxes.Judge(t.Context(), tx, box, func() error {
			tx.Queue(`UPDATE email SET marked_at = NULL, refused_at = now(), bounced = 'hard', status = 'failed'
				WHERE org_id = $1 AND marked_at > now() - interval '30 min'`, o.org)
			return nil
		})
	})
	if v := o.get(box); v.Health.BounceRate == nil || *v.Health.BounceRate != 0.25 {
		t.Errorf("health %+v", v.Health)
	}
}

func TestASandboxMailboxIsNeverDisabledForItsHealth(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.must(func(tx *postgres.Tx) error { return o.boxes.SeedSandbox(t.Context(), tx) })
	var box id.ID
	o.scan(`SELECT id FROM mailbox`, &box)
	o.mails(box, 100, time.Hour, "hard")
	o.judge(box)
	if v := o.get(box); v.Status != "active" || *v.Health.BounceRate != 1 {
		t.Errorf("%s, health %+v", v.Status, v.Health)
	}
}

func TestAResumedMailboxIsJudgedByNewMailsOnly(t *testing.T) {
	t.Parallel()
	o := open(t)
	box := o.active(nil)
	o.mails(box, 50, time.Hour, "hard")
	o.judge(box)
	if got := o.get(box).Status; got != "disabled" {
		t.Fatal(got)
	}
	o.must(func(tx *postgres.Tx) error {
		_, err := o.boxes.Resume(t.Context(), tx, box)
		return err
	})
	o.judge(box)
	if v := o.get(box); v.Status != "active" || v.Health.BounceRate != nil {
		t.Errorf("%s, health %+v", v.Status, v.Health)
	}
	o.mails(box, 10, -time.Minute, "hard") // after it was resumed
	o.judge(box)
	if got := o.get(box).Status; got != "disabled" {
		t.Errorf("%s after ten bounces more", got)
	}
}

func TestTheRampGrowsByEachDayThatSent(t *testing.T) {
	t.Parallel()
	o := open(t)
	box := o.ramped(20)
	day := func(sent int, bounced string) int {
		o.Helper()
		o.mails(box, sent, 0, bounced)
		o.exec(`UPDATE email SET marked_at = marked_at - interval '1 day'`)
		o.exec(`UPDATE mailbox SET ramp_on = ramp_on - 1, ramp_halved_on = ramp_halved_on - 1`)
		o.judge(box)
		o.judge(box)
		return o.allowed()
	}
	var got []int
	for range 3 {
		got = append(got, day(3, ""))
	}
	got = append(got, day(0, ""), day(1, ""), day(3, "hard"), day(3, ""))
	for range 3 {
		o.exec(`DELETE FROM email`)
		got = append(got, day(1, ""))
	}
	o.exec(`UPDATE mailbox SET ramp_allowed = 48`)
	got = append(got, day(1, ""), day(1, ""))
	want := []int{25, 30, 35, 35, 40, 20, 10, 15, 20, 25, 50, 50}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("the ramp allowed %d, want %d", got, want)
		}
	}
	anew := mailboxes.Patch{Ramp: wire.Some(mailboxes.RampPatch{Start: wire.Some(7)})}
	if _, _, err := o.update(box, anew); err != nil {
		t.Fatal(err)
	}
	if o.judge(box); o.allowed() != 7 {
		t.Errorf("a new ramp allows %d", o.allowed())
	}
}
