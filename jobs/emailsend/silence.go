package emailsend

import (
	"context"
	"net"
	"strconv"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/advice"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// SilenceOf returns what a mailbox shows of the result of a dialogue with a server that could not be reached or did not
// respond. Otherwise it returns "".
func SilenceOf(m *mailboxes.Sending, r *transport.Result) string {
	if r.Outcome != transport.NotSentTemporary || r.Reply.Code != 0 || r.Hold || m.Host == "" ||
		r.Stage != transport.Connect && r.Stage != transport.Auth {
		return ""
	}
	return mailboxes.SilenceOf(mailboxes.Submission, m.Host, m.Port, r.Err)
}

// AdviceOn returns what a mailbox shows of a server that could not be used; it is empty if the server took the mail.
func AdviceOn(m *mailboxes.Sending, r *transport.Result) advice.Advice {
	if r.Outcome == transport.Sent || r.Outcome == transport.Unknown || r.Outcome == transport.MarkRefused {
		return advice.Advice{}
	}
	p := &advice.Problem{
		Protocol: "SMTP", Host: m.Host, Port: m.Port, TLS: m.TLS, SignIn: r.Stage == transport.Auth, Err: r.Err,
	}
	if r.Reply.Code != 0 {
		p.Reply = r.Reply.String()
	}
	return advice.Of(p)
}

// beginServerCall counts the call of the mailbox's server. If it may not begin, the mails of the mailbox wait as long
// as this one, since each of them would only find the same.
func beginServerCall(run *queue.Run[Args], m *mailboxes.Sending) error {
	if m.Kind == mailboxes.Sandbox {
		return nil
	}
	err := run.BeginCall(net.JoinHostPort(m.Host, strconv.Itoa(m.Port)))
	if d, ok := queue.SnoozeOf(err); ok {
		run.Effect(func(_ context.Context, tx *postgres.Tx) error {
			queue.DelayKey(tx, m.ID, d)
			return nil
		})
	}
	return err
}

// recordSilence records that the server of an email's mailbox was silent. From the second time on the circuit is open
// until the server is called again. The emails that wait for it do not become late.
func recordSilence(ctx context.Context, tx *postgres.Tx, o *emails.Outgoing, detail string) error {
	failures, again, err := mailboxes.Silent(ctx, tx, o.MailboxID, mailboxes.Submission, detail)
	if err != nil || failures < 2 {
		return err
	}
	queue.OpenCircuit(tx, o.MailboxID, again)
	o.WaitForMailbox(tx, again)
	return nil
}

// recordResponse records that the server of an email's mailbox is not silent any more.
func recordResponse(run *queue.Run[Args], o *emails.Outgoing, r *transport.Result) {
	if r.Reply.Code == 0 || r.Outcome == transport.Sent || !o.Mailbox.WasSilent() {
		return
	}
	run.Effect(func(_ context.Context, tx *postgres.Tx) error {
		mailboxes.ServerResponded(tx, o.Mailbox)
		queue.CloseCircuit(tx, o.MailboxID)
		return nil
	})
}
