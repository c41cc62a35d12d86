package mailboxcheck

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/outreach/sentfolder"
	"github.com/funnelwork/funnelwork/internal/outreach/submission"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
)

// Job has the dependencies of the work.
type Job struct {
	DB        *postgres.DB
	Mailboxes *mailboxes.Service
	Dialer    *transport.Dialer
	// Sandbox connects to the server of sandbox mailboxes; nil: this process has none.
	Sandbox func(ctx context.Context, org id.ID) (net.Conn, error)
	// Token returns the tokens of connected accounts; nil: no such mailbox is tested.
	Token mailboxes.TokenSource
	// Sent reports whether the Sent folder of a mailbox has a mail. nil: nothing is proved.
	Sent func(ctx context.Context, org, mailbox id.ID, messageID string) (bool, error)
	// Pauses are made before each search of the Sent folder. nil: the usual ones.
	Pauses []time.Duration
	// Records looks up the records of a domain.
	Records func(ctx context.Context, domain string) branding.MailRecords
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// testTime bounds the dialogue with the server.
const testTime = time.Minute

// Work makes the test. A mailbox that was archived meanwhile is not tested.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	var m *mailboxes.Sending
	err := j.DB.ReadTx(ctx, run.Org, func(tx *postgres.Tx) (err error) {
		m, err = j.Mailboxes.ForSending(ctx, tx, run.Args.Mailbox)
		return err
	})
	if f := fault.Of(err); f != nil && f.Code == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if m.Kind != mailboxes.Sandbox {
		if err := run.BeginCall(net.JoinHostPort(m.Host, strconv.Itoa(m.Port))); err != nil {
			return err
		}
	}
	c := mailboxes.Check{MessageID: id.New().String() + "@" + m.FromDomain}
	result, err := j.sendTestMail(ctx, run.Org, m, c.MessageID)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("test mailbox: %w", ctx.Err())
	}

	c.Failure = failureReason(result)
	c.Refused = result.Stage == transport.Auth && result.Reply.Code >= 500
	c.Silence = emailsend.SilenceOf(m, result)
	words := emailsend.AdviceOn(m, result)
	c.Detail, c.Action = words.Detail, words.Action
	if c.Detail == "" {
		c.Detail = c.Silence
	}
	if c.Failure == "" {
		c.SentProof = j.isInSentFolder(ctx, run.Org, m.ID, c.MessageID)
	}
	found := j.Records(ctx, m.FromDomain)
	c.SPF = found.SPF
	c.DKIM = found.DKIM
	c.DMARC = found.DMARC
	run.Effect(func(ctx context.Context, tx *postgres.Tx) error {
		return j.Mailboxes.Checked(ctx, tx, m.ID, &c)
	})
	return nil
}

// usualPauses give a server 20 seconds to file what it has accepted.
var usualPauses = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 12 * time.Second}

// searchTime bounds one search.
const searchTime = 20 * time.Second

// isInSentFolder reports whether the test mail is found in the Sent folder. A folder that cannot be searched proves
// nothing.
func (j Job) isInSentFolder(ctx context.Context, org, mailbox id.ID, messageID string) bool {
	if j.Sent == nil {
		return false
	}

	pauses := j.Pauses
	if pauses == nil {
		pauses = usualPauses
	}
	for _, d := range pauses {
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return false
		}
		limited, cancel := context.WithTimeout(ctx, searchTime)
		found, err := j.Sent(limited, org, mailbox, messageID)
		cancel()
		if found || errors.Is(err, sentfolder.ErrUnreadable) {
			return found
		}
	}

	return false
}

// failureReason returns the reason that a mailbox shows for the result of its test; "": the server took the mail.
func failureReason(r *transport.Result) string {
	switch {
	case r.Outcome == transport.Sent:
		return ""
	case r.Outcome == transport.Unknown:
		return mailboxes.TestUnanswered
	case errors.Is(r.Err, mailboxes.ErrLoginNeeded):
		return mailboxes.LoginNeeded
	case r.Stage == transport.Auth && r.Reply.Code != 0:
		return mailboxes.AuthRefused
	case r.Stage == transport.Connect || r.Reply.Code == 0:
		return mailboxes.ConnectFailed
	default:
		return mailboxes.TestRefused
	}
}

// sendTestMail sends the test mail and returns what became of it.
func (j Job) sendTestMail(ctx context.Context, org id.ID, m *mailboxes.Sending, messageID string) (*transport.Result,
	error,
) {
	self := mail.Address{Name: m.FromName, Address: m.FromEmail}
	message := compose.Mail{
		MessageID: messageID, Date: time.Now(), From: self, To: self, Subject: "Test of your mailbox",
		Text: "This mail shows that the mailbox can send. You can delete it.",
	}
	body, err := message.MIME()
	if err != nil {
		return nil, fmt.Errorf("compose test mail: %w", err)
	}

	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	conn, failed := (&submission.Connector{Dialer: j.Dialer, Sandbox: j.Sandbox, Token: j.Token}).Connect(ctx, org, m)
	if failed != nil {
		return failed, nil
	}

	defer func() { _ = conn.Close() }()
	r := conn.Send(ctx, transport.Envelope{From: m.FromEmail, To: m.FromEmail}, body,
		func(context.Context) error { return nil })
	return &r, nil
}
