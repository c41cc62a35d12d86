// Package listener takes incoming mails by SMTP or LMTP, from the mail server that an MX record names or from one that
// passes them on. The recipient is <token>@ any domain, with the token of a mailbox's inbound address, or an email's
// own address (package emails), in either case; an address made before those of base32 must arrive as it was written.
// It relays nothing and knows no other recipient.
//
// It speaks no TLS and verifies no sender: that is for the mail server in front of it. Strangers have limits, so that
// none keeps others away: connections per address and network, time and commands of a session, and memory of all.
package listener

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// Limits of the listener.
const (
	maxRecipients = 20          // of a mail
	idle          = time.Minute // until a command is complete, or for a part of a mail
)

// Server takes mails.
type Server struct {
	Inbound *inbound.Service
	Log     *slog.Logger
	LMTP    bool // speaks LMTP instead of SMTP; its clients have no limits of strangers
	// Trusted are the networks whose clients have no limits of strangers.
	Trusted []netip.Prefix
	Metrics *Metrics // may be nil
	memory  memory
}

// Serve serves on ln until ctx ends, and closes it.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		own, ok := c.Conn().(*conn)
		if !ok {
			return nil, fmt.Errorf("unexpected connection %T", c.Conn())
		}
		return &session{server: s, ctx: ctx, conn: own}, nil
	}))
	server.Domain, server.LMTP = "funnelwork", s.LMTP
	server.MaxMessageBytes, server.MaxRecipients = parse.MaxReceived, maxRecipients
	server.MaxLineLength = 0 // conn bounds the lines of commands; a mail's lines are bounded by its size
	server.ReadTimeout, server.WriteTimeout = idle, idle
	server.EnableSMTPUTF8, server.ErrorLog = true, quiet{s.Log}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	few := &admission{
		Listener: ln, exempt: s.LMTP, trusted: s.Trusted, metrics: s.Metrics, open: map[netip.Prefix]int{},
	}
	if err := server.Serve(few); err != nil && ctx.Err() == nil {
		return fmt.Errorf("take mails: %w", err)
	}

	return nil
}

// session is one dialogue. It holds the context of Serve, because go-smtp passes none to its backend.
type session struct {
	server *Server
	conn   *conn
	ctx    context.Context //nolint:containedctx // see above
	from   string
	routes []route
}

// route is a recipient. own is an email's own address, or "".
type route struct {
	inbound.Route
	own string
}

// Mail implements smtp.Session.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	token, _, _ := strings.Cut(to, "@")
	r, err := s.server.Inbound.RouteOf(s.ctx, token)
	var own string
	if fault.Is(err, fault.NotFound) {
		own = to
		r, err = s.server.Inbound.RouteOfEmail(s.ctx, token)
	}
	if fault.Is(err, fault.NotFound) {
		s.conn.countUnknown()
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "There is no such address"}
	}
	if err != nil {
		return s.refuseForNow(err)
	}

	s.routes = append(s.routes, route{r, own})

	return nil
}

// Data implements smtp.Session. A mail is committed for every recipient before the reply. A sender that gets no reply
// sends it again, and the messages stay what they are.
func (s *session) Data(r io.Reader) error {
	s.conn.startMail()
	head := "Return-Path: <" + strings.Map(dropUnprintable, s.from) + ">\r\n"
	raw, release, err := s.server.readMail(s.conn.networks, io.MultiReader(strings.NewReader(head), r))
	defer release()
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 4, 2}, Message: "The mail took too long"}
	}
	if err != nil {
		return err
	}

	for _, to := range s.routes {
		mail := raw
		if to.own != "" { // the header need not name it
			mail = append([]byte("X-Original-To: <"+strings.Map(dropUnprintable, to.own)+">\r\n"), raw...)
		}
		if _, _, err := s.server.Inbound.Intake(s.ctx, to.Route, mail, inbound.SMTP); err != nil {
			return s.refuseForNow(err)
		}
	}
	s.conn.takeMail()

	return nil
}

// refuseForNow asks the sender to try again.
func (s *session) refuseForNow(err error) error {
	if !errors.Is(err, context.Canceled) {
		s.server.Log.WarnContext(s.ctx, "incoming mail not taken", "error", err)
	}
	return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "Try again later"}
}

// dropUnprintable drops what would end a line of the header.
func dropUnprintable(r rune) rune {
	if r < ' ' || r == '<' || r == '>' {
		return -1
	}
	return r
}

// Reset implements smtp.Session.
func (s *session) Reset() {
	s.from, s.routes = "", nil
	s.conn.endMail()
}

// Logout implements smtp.Session.
func (s *session) Logout() error { return nil }

// quiet logs failed connections at the level debug: anyone can cause them.
type quiet struct{ log *slog.Logger }

// Printf implements smtp.Logger.
func (q quiet) Printf(format string, v ...any) {
	q.log.DebugContext(context.Background(), "mail connection failed", "error", fmt.Sprintf(format, v...))
}

// Println implements smtp.Logger.
func (q quiet) Println(v ...any) {
	q.log.DebugContext(context.Background(), "mail connection failed", "error", fmt.Sprint(v...))
}
