package webhooknotify

import (
	"context"
	"net/url"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs/mailsystem"
)

// Job has the dependencies of the work.
type Job struct {
	Box   *secret.Sealer
	Hooks *webhooks.Service
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work writes the mails. It writes none if the endpoint was enabled again or archived meanwhile.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	v, err := j.Hooks.Get(ctx, tx, run.Args.Endpoint, false)
	if fault.Is(err, fault.NotFound) || err == nil && v.Enabled != (run.Args.What == Failing) {
		return nil
	}
	if err != nil {
		return err
	}

	h, err := j.Hooks.HealthOf(ctx, tx, v.ID)
	if err != nil {
		return err
	}

	n := mail.Webhook{
		Host: shownHost(v.URL), Description: v.Description, Events: h.FailedEvents, Since: h.FailingSince,
		Percent: run.Args.Percent,
	}
	return mailsystem.TellKeepers(ctx, tx, j.Box, func(to string) mail.Message {
		if run.Args.What == Disabled {
			return mail.WebhookDisabled(to, n, v.DisabledReason != nil && *v.DisabledReason == "gone")
		}
		return mail.WebhookFailing(to, n)
	})
}

// shownHost returns the part of a URL that a mail shows, because paths and queries may contain secrets.
func shownHost(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "an unreadable address"
	}
	return u.Host
}
