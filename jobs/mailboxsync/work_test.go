package mailboxsync_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit/imapd"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func TestNewMailsOfTheInboxAreTakenOnce(t *testing.T) {
	t.Parallel()
	p := open(t)
	own := "From: Hello <Hello@Shop.example>\r\nMessage-ID: <own@shop.example>\r\n\r\nTest\r\n"
	p.deliver("1")
	p.server.Deliver(t, "Sent", mail("sent"), time.Now())
	p.server.Deliver(t, imap.Inbox, mail("draft"), time.Now(), imapd.Draft)
	p.server.Deliver(t, imap.Inbox, own, time.Now())
	p.server.Deliver(t, imap.Inbox, mail("old"), time.Now().Add(-31*24*time.Hour))
	for range 2 {
		m := p.read()
		if p.has(1); m.Sync == nil || m.Sync.LastAt == nil || m.Sync.Error != nil || m.Sync.Skipped != 0 {
			t.Errorf("shown: %+v", m.Sync)
		}
	}
	p.deliver("2")
	p.deliver("3")
	p.read()
	if p.has(3); p.count(`message WHERE via = 'imap' AND received_at > now() - interval '1 min'`) != 3 {
		t.Error("the messages do not say when and how they came")
	}
}

func TestAChangedUIDValidityRereadsAMonthByMessageID(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.exec(`UPDATE mailbox SET created_at = now() - interval '1 year'`)
	days := func(n int) time.Time { return time.Now().Add(-time.Duration(n) * 24 * time.Hour) }
	p.server.Deliver(t, imap.Inbox, mail("1"), days(20))
	p.server.Deliver(t, imap.Inbox, mail("2"), days(1))
	p.read()
	p.has(2)
	p.server.Renumber(t)
	p.server.Deliver(t, imap.Inbox, mail("ancient"), days(60))
	p.server.Deliver(t, imap.Inbox, mail("2"), days(1))
	p.server.Deliver(t, imap.Inbox, mail("3"), days(2)) // came while the numbers changed
	p.server.Deliver(t, imap.Inbox, mail("1"), days(20))
	m := p.read()
	if p.has(3); m.Sync.Error != nil || m.Sync.Skipped != 0 {
		t.Errorf("shown: %+v", m.Sync)
	}
	if n := p.count(`message WHERE received_at BETWEEN now() - interval '49 h' AND now() - interval '47 h'`); n != 1 {
		t.Error("the mail has not the time at which it arrived")
	}
	if p.read(); p.count(`mailbox_folder WHERE uidvalidity > 1 AND uidnext = 5`) != 1 {
		t.Error("the folder was not read to its end")
	}
}

func TestAMailThatCannotBeReadIsSkippedAtTheThirdTime(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]error{"refused": errors.New("no"), "hung up": imapd.ErrHangUp} {
		p := open(t)
		p.deliver("1")
		bad := p.deliver("bad")
		p.deliver("2")
		p.server.Poisoned = func(uid uint32) error {
			if uid == bad {
				return how
			}
			return nil
		}
		for try := range 3 {
			m := p.read()
			skipped := 0
			if try == 2 {
				skipped = 1
			}
			if p.has(1); m.Sync.Error == nil || *m.Sync.Error != mailboxes.Unreadable || m.Sync.Skipped != skipped {
				t.Errorf("%s, time %d: %+v", name, try+1, m.Sync)
			}
		}
		if m := p.read(); m.Sync.Error != nil || m.Sync.Skipped != 1 {
			t.Errorf("%s: afterwards %+v", name, m.Sync)
		}
		p.has(2)
	}
}

func TestAMailThatIsTooLargeIsSkippedAtOnce(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.server.Deliver(t, imap.Inbox, mail("large")+strings.Repeat("x", parse.MaxReceived), time.Now())
	p.deliver("1")
	if m := p.read(); m.Sync.Skipped != 1 || m.Sync.Error != nil {
		t.Errorf("shown: %+v", m.Sync)
	}
	p.has(1)
}

func TestALargeMailIsReadWithoutItsFiles(t *testing.T) {
	t.Parallel()
	p := open(t)
	line := strings.Repeat("Q", 76) + "\r\n"
	p.server.Deliver(t, imap.Inbox, "From: Ada <ada@example.com>\r\nMessage-ID: <large@example.com>\r\nSubject: "+
		"Large\r\n"+
		"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nYes, call me.\r\n--b\r\n"+
		"Content-Type: image/jpeg; name=looms.jpg\r\nContent-Transfer-Encoding: base64\r\n\r\n"+
		strings.Repeat(line, 40<<20/len(line))+"--b\r\n\r\nSent from my loom.\r\n--b--\r\n", time.Now())
	p.deliver("1")
	if m := p.read(); m.Sync.Skipped != 0 || m.Sync.Error != nil {
		t.Errorf("shown: %+v", m.Sync)
	}
	p.has(1) // a run ends after so many bytes
	if m := p.read(); m.Sync.Error != nil {
		t.Errorf("shown later: %+v", m.Sync)
	}
	p.has(2)
	if n := p.count(`message_raw WHERE length(raw) > 100000`); n != 0 {
		t.Errorf("%d mails are stored with their files", n)
	}
}

func TestARefusedSignInHoldsTheReadingUntilAPersonChangesIt(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.deliver("1")
	patch := func(password string) {
		t.Helper()
		p.tx(func(tx *postgres.Tx) error {
			_, _, err := p.boxes.Update(t.Context(), tx, p.mailbox, record.Match(nil), &mailboxes.Patch{
				IMAP: wire.Some(mailboxes.ServerPatch{Password: wire.Some(secret.Text(password))}),
			}, nil)
			return err
		})
	}
	due := func() int { return p.count(`mailbox_folder WHERE next_sync_at <= now() + interval '1 s'`) }
	patch("wrong")
	for _, hours := range []float64{1, 2, 4} {
		m := p.read()
		if m.Sync.Error == nil || *m.Sync.Error != mailboxes.AuthRefused || m.Status != mailboxes.Unverified {
			t.Fatalf("shown: %s, %+v", m.Status, m.Sync)
		}
		if left := time.Until(m.Sync.NextAt.Time).Hours(); left < hours-0.1 || left > hours+0.1 || due() != 0 {
			t.Errorf("read again in %.1f hours, want %.0f", left, hours)
		}
	}
	p.has(0)
	p.tx(func(tx *postgres.Tx) error {
		_, err := p.boxes.RequestCheck(t.Context(), tx, p.mailbox)
		return err
	})
	if due() != 1 {
		t.Error("a test does not read the mailbox again")
	}
	if patch(imapd.Password); due() != 1 {
		t.Error("another password does not read the mailbox again")
	}
	if m := p.read(); m.Sync.Error != nil {
		t.Errorf("shown: %+v", m.Sync)
	}
	p.has(1)
}

func TestARunThatDiesLosesNoMailAndTakesNoneTwice(t *testing.T) {
	t.Parallel()
	p := open(t)
	for _, name := range []string{"1", "2", "3", "4"} {
		p.deliver(name)
	}
	whole := p.syncer.Inbound
	p.killed(3)
	if _, err := p.work(t.Context()); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	p.has(2)
	p.syncer.Inbound = whole
	if _, err := p.work(t.Context()); err != nil { // dies after its last mail, before its end is written
		t.Fatal(err)
	}
	p.has(4)
	var both sync.WaitGroup
	p.deliver("5")
	for range 2 { // a worker that has lost its lease, and the next one
		both.Go(func() {
			if _, err := p.work(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	p.read()
	p.has(5)
	if p.count(`mailbox_folder WHERE uidnext = 6 AND skipped = 0 AND error = ''`) != 1 {
		t.Error("the folder was not read to its end")
	}
}

func TestTheSameMailByAllWaysAtOnceIsOneMessage(t *testing.T) {
	t.Parallel()
	p := open(t)
	with := mail("1")
	without := "From: Bob <bob@example.com>\r\nDate: Thu, 1 Jan 2026 10:00:00 +0000\r\n\r\nNo id\r\n"
	p.server.Deliver(t, imap.Inbox, "Received: by imap\r\n"+with, time.Now())
	p.server.Deliver(t, imap.Inbox, "Received: by imap\r\n"+without, time.Now())
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			if n == 0 {
				if _, err := p.work(t.Context()); err != nil {
					t.Error(err)
				}
				return
			}
			via := []string{inbound.HTTP, inbound.SMTP}[n%2]
			for _, raw := range []string{with, strings.ReplaceAll(without, "\r\n", "\n")} {
				if via == inbound.SMTP {
					raw = "Return-Path: <bob@example.com>\r\n" + raw
				}
				route := inbound.Route{Org: p.org, Mailbox: p.mailbox}
				if _, _, err := p.syncer.Inbound.Intake(t.Context(), route, []byte(raw), via); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	p.read()
	p.has(2)
}

func TestAMailboxOfAConnectedAccountIsReadWithItsToken(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.server.RequireToken("fresh")
	p.boxes.Own = map[string]mailboxes.OwnServers{
		mailboxes.Google: {IMAP: mailboxes.Address{Host: p.server.Host, Port: p.server.Port, TLS: mailboxes.NoTLS}},
	}
	account := id.New()
	p.exec(`UPDATE mailbox SET kind = 'google', imap_host = '', social_account_id = $1`, account)
	p.deliver("1")
	var refused []int64
	needed := true
	p.syncer.Token = func(_ context.Context, org, a id.ID, r int64) (mailboxes.Token, error) {
		if refused = append(refused, r); org != p.org || a != account {
			t.Error("the token of another account is asked for")
		}
		if needed {
			return mailboxes.Token{}, mailboxes.ErrLoginNeeded
		}
		return mailboxes.Token{Access: secret.Text([]string{"stale", "fresh"}[r]), Version: 1}, nil
	}
	m := p.read()
	if m.Sync.Error == nil || *m.Sync.Error != mailboxes.LoginNeeded || time.Until(m.Sync.NextAt.Time) > 6*time.Minute {
		t.Errorf("without a login: %+v", m.Sync)
	}
	needed = false
	if m = p.read(); m.Sync.Error != nil || len(refused) != 3 || refused[2] != 1 {
		t.Errorf("%+v, refused %v", m.Sync, refused)
	}
	p.has(1)
}
