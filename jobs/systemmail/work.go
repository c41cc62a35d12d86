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

// Job has the dependencies of the work.
type Job struct {
	DB   *postgres.DB // App role
	Box  *secret.Sealer
	SMTP *mail.SMTP // nil: the sandbox mailbox, unless Off
	Off  bool       // mail is not configured
	// Brands and System determine the branding of a mail when it is sent. Without them mails have the platform's
	// branding.
	Brands *branding.Resolver
	System *postgres.DB
	// PublicURL is the base URL of logos; "" sends mails without logos.
	PublicURL string
}

// ErrOff is the error of a mail job that ran where mail is not configured. The job becomes dead and the mail is kept.
// If the job is run again where mail is configured, it sends the mail.
var ErrOff = errors.New("mail is not configured in this process (FUNNELWORK_SMTP_URL)")

// Work sends the mail once per delivery of the job. The Message-ID is the job's id, so that a duplicate after a crash
// can be recognized. The transaction that ends the job deletes the body from the database.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	var m *mail.Message
	err := j.DB.ReadTx(ctx, run.Org, func(tx *postgres.Tx) (err error) {
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
		run.Effect(func(_ context.Context, tx *postgres.Tx) error {
			return mail.ToSandbox(tx, j.Box, run.Args.Mail, m)
		})
		return nil
	}
	if err := j.SMTP.Send(ctx, run.ID.String(), m); errors.Is(err, mail.ErrRefused) {
		return queue.Drop(err)
	} else if err != nil {
		return err
	}
	run.Effect(func(_ context.Context, tx *postgres.Tx) error {
		mail.Sent(tx, run.Args.Mail)
		return nil
	})
	return nil
}
