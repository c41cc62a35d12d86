package mailboxsync_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
)

// serveLongSearches starts an IMAP server whose searches find very many mails.
func serveLongSearches(t *testing.T) *net.TCPAddr {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go findMany(c)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().(*net.TCPAddr)
}

// findMany answers the commands of a client until it hangs up.
func findMany(c net.Conn) {
	defer func() { _ = c.Close() }()
	_, _ = io.WriteString(c, "* OK [CAPABILITY IMAP4rev1] ready\r\n")
	for r := bufio.NewReader(c); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		tag, command, _ := strings.Cut(strings.ToUpper(line), " ")
		switch {
		case strings.HasPrefix(command, "CAPABILITY"):
			_, _ = io.WriteString(c, "* CAPABILITY IMAP4rev1\r\n")
		case strings.HasPrefix(command, "EXAMINE"):
			_, _ = io.WriteString(c, "* 9 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n* OK [UIDNEXT 9] ok\r\n")
		case strings.HasPrefix(command, "UID SEARCH"):
			_, _ = io.WriteString(c, "* SEARCH"+strings.Repeat(" 123456789", 24_000)+"\r\n")
		}
		_, _ = fmt.Fprintf(c, "%s OK done\r\n", tag)
	}
}

// crowd uses the memory for answers up, until the test ends.
func crowd(t *testing.T, d *imap.Dialer, at *net.TCPAddr) {
	t.Helper()
	s := imap.Server{Host: at.IP.String(), Port: at.Port, TLS: mailboxes.NoTLS, Username: "ada", Password: "secret"}
	for range 20 {
		c, err := d.Connect(context.WithoutCancel(t.Context()), s)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err = c.Examine(imap.Inbox); err == nil {
			_, err = c.From(1)
		}
		if errors.Is(err, imap.ErrBusy) {
			_ = c.Close()
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("there is memory for everything")
}

// The server is not at fault, and it was not heard either.
func TestAMailboxThatThereIsNoMemoryForIsNeitherSilentNorHasItResponded(t *testing.T) {
	t.Parallel()
	p, at := open(t), serveLongSearches(t)
	p.syncer.Dialer = &imap.Dialer{AllowPrivate: true, Timeout: 20 * time.Second, Memory: imap.NewMemory()}
	p.moved(at.IP.String(), at.Port)
	crowd(t, p.syncer.Dialer, at)
	if m := p.read(); reason(&m) != "" || m.Sync.Error != nil || m.Sync.LastAt != nil ||
		p.count(`mailbox_silence`) != 0 {
		t.Errorf("shown: %s, %+v", reason(&m), m.Sync)
	}
	p.exec(`INSERT INTO mailbox_silence (org_id, mailbox_id, server, since, failures, detail, next_at)
		VALUES ($1, $2, 'imap', now() - interval '1 hour', 5, 'silent', now())`, p.org, p.mailbox)
	p.exec(`UPDATE mailbox_folder SET error = 'connect_failed', failures = 5`)
	if m := p.read(); reason(&m) != mailboxes.ServerSilent || p.count(`mailbox_silence WHERE failures = 5`) != 1 ||
		p.count(`mailbox_folder WHERE failures = 5`) != 1 {
		t.Errorf("a silent one: %s, %+v", reason(&m), m.Sync)
	}
}
