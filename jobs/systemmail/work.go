package systemmail

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Job is what the work needs.
type Job struct {
	DB   *postgres.DB // App role
	Box  *secret.Box
	SMTP *mail.SMTP // nil: the sandbox mailbox, unless Off
	Off  bool       // mail is not configured
	// Brands and System tell in whose name a mail speaks when it is sent; without them it is the platform's.
	Brands *branding.Resolver
	System *postgres.DB
	// PublicURL is where mail programs find logos; "" for mails without.
	PublicURL string
}

// ErrOff is why a mail's job is dead that ran where mail is not configured. The mail is kept: run again where it is
// configured, the job sends it.
var ErrOff = errors.New("mail is not configured in this process (FUNNELWORK_SMTP_URL)")

// Work sends the mail once per delivery of the job; the Message-ID is the job's id, so a double after a crash
// can be known. The body leaves the database in the transaction that ends the job.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	var m *mail.Message
	err := j.DB.View(ctx, run.Org, func(tx *postgres.Tx) (err error) {
		m, err = mail.Read(ctx, tx, j.Box, run.Args.Mail)
		return err
	})
	if err != nil || m == nil {
		return err
	}
	if j.Off {
		return queue.Drop(ErrOff)
	}
	if err := j.dress(ctx, run.Org, m); err != nil {
		return err
	}
	if j.SMTP == nil {
		run.Effect(func(_ context.Context, tx *postgres.Tx) error { return mail.ToSandbox(tx, j.Box, run.Args.Mail, m) })
		return nil
	}
	if err := j.SMTP.Send(ctx, run.ID.String(), m); errors.Is(err, mail.ErrRefused) {
		return queue.Drop(err)
	} else if err != nil {
		return err
	}
	run.Effect(func(_ context.Context, tx *postgres.Tx) error { mail.Sent(tx, run.Args.Mail); return nil })
	return nil
}
