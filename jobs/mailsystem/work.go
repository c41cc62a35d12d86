package mailsystem

import (
	"context"
	"errors"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/org"
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
	if err := j.applyBranding(ctx, run.Org, m); err != nil {
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

// applyBranding applies the current branding of m's org to m. A mail to a person without an org gets the branding of
// the org that the person last used. This reveals nothing: the response to the request was sent long before.
func (j Job) applyBranding(ctx context.Context, org id.ID, m *mail.Message) error {
	if j.Brands == nil {
		return nil
	}
	if org.IsZero() && j.System != nil {
		err := j.System.ReadTx(ctx, org, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx,
				`SELECT coalesce(last_org_id, '00000000-0000-0000-0000-000000000000') FROM app_user
					WHERE email_folded = $1`, []any{auth.FoldEmail(m.To)}, &org)
		})
		if err != nil && !postgres.None(err) {
			return fmt.Errorf("find org of mail: %w", err)
		}
	}
	shown, err := j.Brands.Of(ctx, org)
	if err != nil {
		return err
	}
	if shown != branding.Platform {
		m.Dress(mailTheme(&shown, j.PublicURL))
	}

	return nil
}

// mailTheme returns the branding as a mail theme. It includes the logo only if it is a raster image with a public URL.
func mailTheme(s *branding.Shown, publicURL string) mail.Theme {
	c := s.Colors
	l := mail.Theme{
		Name: s.Name, PoweredBy: s.PoweredBy(), Support: s.SupportEmail,
		Primary: c.Primary.String(), OnPrimary: c.Primary.On().String(), Background: c.Background.String(),
		Text: c.Text.String(),
	}
	if s.Logo.Digest != "" && s.Logo.Raster() && publicURL != "" {
		l.Logo = publicURL + s.Logo.Path()
	}
	return l
}

// TellKeepers writes a mail to each owner and admin of tx's org and enqueues the jobs that send them.
func TellKeepers(ctx context.Context, tx *postgres.Tx, box *secret.Sealer, write func(to string) mail.Message) error {
	people, err := org.AdminEmails(ctx, tx)
	if err != nil {
		return err
	}
	for _, to := range people {
		written, err := mail.Write(tx, box, write(to))
		if err != nil {
			return fmt.Errorf("write mail: %w", err)
		}
		if err := Kind.Add(ctx, tx, Args{Mail: written}); err != nil {
			return err
		}
	}
	return nil
}
