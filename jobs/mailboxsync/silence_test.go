package mailboxsync_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// mute is a server that accepts connections and sends nothing.
func mute(t *testing.T) *net.TCPAddr {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns = append(conns, c)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
		for _, c := range conns {
			_ = c.Close()
		}
	})
	return l.Addr().(*net.TCPAddr)
}

// moved makes the mailbox active on another IMAP server.
func (p *post) moved(host string, port int) {
	p.Helper()
	p.tx(func(tx *postgres.Tx) error {
		_, _, err := p.boxes.Update(p.Context(), tx, p.mailbox, record.Match(nil), &mailboxes.Patch{
			IMAP: wire.Some(mailboxes.ServerPatch{Host: wire.Some(host), Port: wire.Some(port)}),
		}, nil)
		return err
	})
	p.exec(`UPDATE mailbox SET status = 'active'`)
}

// slot returns whether an automated mail may be sent now, and if not why.
func (p *post) slot(automated bool) (s mailboxes.Slot) {
	p.Helper()
	p.tx(func(tx *postgres.Tx) (err error) {
		s, err = mailboxes.TakeSlot(p.Context(), tx, p.mailbox, automated)
		return err
	})
	return s
}

func (p *post) room() (n int, s mailboxes.Slot) {
	p.Helper()
	p.tx(func(tx *postgres.Tx) (err error) {
		n, s, err = mailboxes.Room(p.Context(), tx, p.mailbox, 0)
		return err
	})
	return n, s
}

func reason(m *mailboxes.Mailbox) string {
	if m.StatusReason == nil {
		return ""
	}
	return *m.StatusReason
}

func TestAMailboxWithASilentServerIsReadLessAndLessOftenUntilItResponds(t *testing.T) {
	t.Parallel()
	silent := mute(t)
	p := open(t)
	p.syncer.Dialer = &imap.Dialer{AllowPrivate: true, Timeout: 200 * time.Millisecond}
	p.moved(silent.IP.String(), silent.Port)
	if m := p.read(); m.Status != mailboxes.Active || reason(&m) != mailboxes.ServerSilent || m.StatusDetail == nil ||
		!strings.Contains(*m.StatusDetail, "did not respond") || m.StatusAction == nil || m.NextSyncAt == nil {
		t.Fatalf("shown: %s, %s, %v, %v, %v", m.Status, reason(&m), m.StatusDetail, m.StatusAction, m.NextSyncAt)
	}
	for i, minutes := range []float64{2, 4, 8, 16, 32, 60, 60} {
		p.exec(`UPDATE mailbox_silence SET next_at = now()`) // the minutes have passed
		m := p.read()
		if left := time.Until(m.NextSyncAt.Time).Minutes(); left > minutes || left < 0.85*minutes {
			t.Errorf("after failure %d it is read again in %.1f minutes, want %.0f", i+2, left, minutes)
		}
	}
	if s := p.slot(true); !s.Free {
		t.Errorf("automated mail waits at once: %+v", s)
	}
	p.exec(`UPDATE mailbox_silence SET since = now() - interval '16 minutes'`)
	p.exec(`UPDATE mailbox SET next_slot_at = NULL`)
	if s := p.slot(true); s.Free || s.Reason != mailboxes.ServerSilent || s.At.IsZero() {
		t.Errorf("automated mail after 16 minutes of silence: %+v", s)
	}
	if n, s := p.room(); n != 0 || s.Reason != mailboxes.ServerSilent {
		t.Errorf("room for %d mails: %+v", n, s)
	}
	if s := p.slot(false); !s.Free {
		t.Errorf("one-to-one mail waits: %+v", s)
	}
	p.moved(p.server.Host, p.server.Port)
	p.syncer.Dialer = &imap.Dialer{AllowPrivate: true, Timeout: 20 * time.Second}
	if m := p.read(); m.StatusReason != nil || m.StatusDetail != nil || m.Sync.Error != nil {
		t.Errorf("shown once the server responds: %s", reason(&m))
	}
	if n, s := p.room(); n == 0 {
		t.Errorf("automated mail waits though the server responds: %+v", s)
	}
}

func TestATestByHandBeginsTheSilenceOfAMailboxAnew(t *testing.T) {
	t.Parallel()
	silent := mute(t)
	p := open(t)
	p.syncer.Dialer = &imap.Dialer{AllowPrivate: true, Timeout: 200 * time.Millisecond}
	p.moved(silent.IP.String(), silent.Port)
	p.read()
	p.exec(`UPDATE mailbox_silence SET since = now() - interval '3 hours', next_at = now() - interval '1 s',
		failures = 9`)
	p.read()
	var shown mailboxes.Versioned
	p.tx(func(tx *postgres.Tx) (err error) {
		shown, err = p.boxes.RequestCheck(t.Context(), tx, p.mailbox)
		return err
	})
	if shown.StatusReason != nil || p.count(`mailbox_folder WHERE next_sync_at <= now()`) != 1 {
		t.Errorf("a test by hand leaves the mailbox %s", reason(&shown.Mailbox))
	}
	if n, s := p.room(); n == 0 {
		t.Errorf("automated mail waits after a test by hand: %+v", s)
	}
	m := p.read()
	if left := time.Until(m.NextSyncAt.Time); reason(&m) != mailboxes.ServerSilent || left > time.Minute {
		t.Errorf("read again in %s, %s", left, reason(&m))
	}
}

func TestAServerThatRefusesConnectionsIsSilentAndOneThatRefusesTheSignInIsNot(t *testing.T) {
	t.Parallel()
	p := open(t)
	closed, err := (&net.ListenConfig{}).Listen(context.WithoutCancel(t.Context()), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := closed.Addr().(*net.TCPAddr)
	_ = closed.Close()
	p.moved(gone.IP.String(), gone.Port)
	if m := p.read(); reason(&m) != mailboxes.ServerSilent ||
		!strings.Contains(*m.StatusDetail, "refused the connection") {
		t.Errorf("shown: %s, %v", reason(&m), m.StatusDetail)
	}
	p.moved(p.server.Host, p.server.Port)
	p.exec(`UPDATE mailbox SET imap_username = 'somebody'`)
	if m := p.read(); reason(&m) != mailboxes.AuthRefused || m.StatusDetail == nil || p.count(`mailbox_silence`) != 0 {
		t.Errorf("shown: %s", reason(&m))
	}
}

func TestAnEnrolmentWaitsForASilentServerAfterAQuarterOfAnHour(t *testing.T) {
	t.Parallel()
	silent := mute(t)
	p := open(t)
	p.syncer.Dialer = &imap.Dialer{AllowPrivate: true, Timeout: 200 * time.Millisecond}
	p.moved(silent.IP.String(), silent.Port)
	p.read()
	wait := func() (w mailboxes.Wait) {
		t.Helper()
		p.tx(func(tx *postgres.Tx) error {
			all, err := mailboxes.WaitsOf(t.Context(), tx, []id.ID{p.mailbox})
			w = all[p.mailbox].Wait
			return err
		})
		return w
	}
	if w := wait(); w.StatusReason != nil {
		t.Errorf("it waits at once: %s", *w.StatusReason)
	}
	p.exec(`UPDATE mailbox_silence SET since = now() - interval '16 minutes'`)
	if w := wait(); w.StatusReason == nil || *w.StatusReason != mailboxes.ServerSilent || w.StatusDetail == nil ||
		w.StatusAction == nil {
		t.Errorf("it waits for %v", w)
	}
}
