package emailreconcile

import (
	"context"
	"errors"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/sentfolder"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct {
	DB        *postgres.DB // App role
	Mailboxes *mailboxes.Service
	// Search reports whether the Sent folder of a mailbox has a Message-ID, as sentfolder.Finder does. nil: there is no
	// evidence to be had.
	Search func(ctx context.Context, org, mailbox id.ID, messageID string) (bool, error)
	// Resend enqueues an email that was not sent.
	Resend func(ctx context.Context, tx *postgres.Tx, r *emails.Row) error
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work searches the Sent folder if the time has come. It ends when the email is settled, or no evidence can be had; the
// email then stays unknown until a person resolves it.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	var (
		r       *emails.Row
		proves  bool
		readErr error
	)
	err := j.DB.ReadTx(ctx, run.Org, func(tx *postgres.Tx) error {
		if r, readErr = emails.Doubtful(ctx, tx, run.Args.Email); readErr != nil || r == nil {
			return readErr
		}
		m, err := j.Mailboxes.ForReading(ctx, tx, r.MailboxID)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		proves = err == nil && m.SentProof
		return err
	})
	if err != nil || r == nil {
		return err
	}

	giveUp := func(ctx context.Context, tx *postgres.Tx) error { return emails.GiveUp(ctx, tx, r.ID) }
	if j.Search == nil {
		run.Effect(giveUp)
		return nil
	}

	at, last := r.NextSearch()
	if d := time.Until(at); d > 0 {
		return queue.Snooze(min(d, emails.BetweenSearches)) // Postgres's clock, of the mark, may have been ahead
	}
	if err := run.BeginCall(r.MailboxID.String()); err != nil {
		return err
	}

	found, err := j.Search(ctx, run.Org, r.MailboxID, r.MessageID)
	if errors.Is(err, sentfolder.ErrUnreadable) || err != nil && run.Last() {
		run.Effect(giveUp)
		return nil
	}
	if err != nil {
		return err
	}

	run.Effect(func(ctx context.Context, tx *postgres.Tx) error {
		resend, err := emails.Searched(ctx, tx, r.ID, found, proves)
		if err != nil || !resend {
			return err
		}
		return j.Resend(ctx, tx, r)
	})
	if !found && !last {
		return queue.Snooze(emails.BetweenSearches)
	}

	return nil
}
