package imap_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/testkit/strangers"
)

// The server describes mails that nobody has asked for, in few bytes, before it hangs up.
func TestAnAnswerOfManyLinesEndsTheConnection(t *testing.T) {
	t.Parallel()
	for lines, tooMany := range map[int]bool{400: false, 600: true} {
		s, stop, err := strangers.Serve(strangers.IMAP("EXAMINE", strangers.None, nil, strangers.Attack{
			Send: func(c *strangers.Conn) { _, _ = c.Write([]byte(strings.Repeat("* 1 FETCH (UID 5)\r\n", lines))) },
		}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		server := imap.Server{Host: s.Host, Port: s.Port, TLS: "none", Username: "ada", Password: "right"}
		conn, err := connect(t, server)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = conn.Examine(imap.Inbox); err == nil || errors.Is(err, outbound.ErrTooMuch) != tooMany {
			t.Errorf("%d lines: %v", lines, err)
		}
	}
}
