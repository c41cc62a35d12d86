package emailsend

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/diagnosis"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// holds has the status_reason of a mailbox by what a server says of the sender. A rate is not among them: it ends
// within a minute, for which the circuit opens.
var holds = map[diagnosis.Reason]string{
	diagnosis.SendingLimit: mailboxes.SendingLimit, diagnosis.NotAllowed: mailboxes.SenderNotAllowed,
	diagnosis.RelayDenied: mailboxes.RelayDenied, diagnosis.SignIn: mailboxes.SignInRequired,
	diagnosis.AccountBlocked: mailboxes.AccountBlocked, diagnosis.Unauthenticated: mailboxes.DomainUnauthenticated,
	diagnosis.Reputation: mailboxes.ServerBlocked,
}

// ofOneMail are the reasons that a server may also have for one mail alone: one that passes mails on while it reads
// them gives the reply of the recipient's server.
var ofOneMail = map[diagnosis.Reason]bool{
	diagnosis.RelayDenied: true, diagnosis.Unauthenticated: true, diagnosis.Reputation: true,
}

// isRefusalOfSender reports whether a dialogue ended because of the mailbox and not of the mail. A sign-in that is
// refused counts by itself, unless the words say that the account is blocked or has reached a limit.
func isRefusalOfSender(r *transport.Result, d *diagnosis.Diagnosis) bool {
	isRefused := r.Outcome == transport.NotSentPermanent || r.Outcome == transport.NotSentTemporary
	if !isRefused || r.Reply.Code == 0 || d.About != diagnosis.Sender || holds[d.Reason] == "" {
		return false
	}
	return r.Stage != transport.Auth || d.Reason == diagnosis.SendingLimit || d.Reason == diagnosis.AccountBlocked
}

// isRate reports whether a server refuses mails that come too fast, by a code that is permanent or not.
func isRate(r *transport.Result, d *diagnosis.Diagnosis) bool {
	return r.Reply.Code != 0 && r.Stage != transport.Auth && d.About == diagnosis.Sender &&
		d.Reason == diagnosis.SendingRate
}

// rateHold returns how long the circuit opens when mails come too fast.
func rateHold(d *diagnosis.Diagnosis) time.Duration { return max(holdFor, d.After) }

// refusedSender holds the mailbox of the email, which stays planned. No attempt is spent.
func (j Job) refusedSender(run *queue.Run[Args], o *emails.Outgoing, r *transport.Result,
	d *diagnosis.Diagnosis,
) error {
	run.Effect(func(ctx context.Context, tx *postgres.Tx) error {
		own := false
		var isOwn func() (bool, error)
		if ofOneMail[d.Reason] {
			isOwn = func() (_ bool, err error) {
				own, err = o.SenderRefused(ctx, tx)
				return own, err
			}
		}
		hold, err := mailboxes.HoldForRefusal(ctx, tx, o.MailboxID, mailboxes.Refusal{
			Reason: holds[d.Reason], Reply: r.Reply.String(), After: d.After,
		}, isOwn)
		switch {
		case err != nil:
			return err
		case own:
			return j.Emails.Fail(ctx, tx, o, emails.Rejected, r)
		}
		o.Unmarked(tx, r.Reply)
		queue.OpenCircuit(tx, o.MailboxID, hold)
		o.WaitForMailbox(tx, hold)

		return nil
	})
	return queue.Snooze(recheck)
}
