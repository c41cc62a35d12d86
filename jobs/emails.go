package jobs

import (
	"context"
	"net"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/broadcasts"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/imapsync"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/outreach/sentfolder"
	"github.com/funnelwork/funnelwork/internal/outreach/submission"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/sandbox/outbox"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/jobs/broadcastprepare"
	"github.com/funnelwork/funnelwork/jobs/emailreconcile"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
	"github.com/funnelwork/funnelwork/jobs/emailsendbulk"
	"github.com/funnelwork/funnelwork/jobs/inboundmail"
	"github.com/funnelwork/funnelwork/jobs/inboundopinion"
	"github.com/funnelwork/funnelwork/jobs/mailboxcheck"
	"github.com/funnelwork/funnelwork/jobs/mailboxdomains"
	"github.com/funnelwork/funnelwork/jobs/mailboxsweep"
	"github.com/funnelwork/funnelwork/jobs/mailboxsync"
	"github.com/funnelwork/funnelwork/jobs/sendingdomains"
	"github.com/funnelwork/funnelwork/jobs/sequencecompare"
	"github.com/funnelwork/funnelwork/jobs/sequencecount"
	"github.com/funnelwork/funnelwork/jobs/sequenceenroll"
	"github.com/funnelwork/funnelwork/jobs/sequenceenter"
	"github.com/funnelwork/funnelwork/jobs/sequencemove"
	"github.com/funnelwork/funnelwork/jobs/sequencestep"
	"github.com/funnelwork/funnelwork/jobs/suppressionimport"
)

// emailHandlers returns the handlers of the kinds that send the orgs' emails.
func emailHandlers(d *Deps) []queue.Handler {
	boxes := &mailboxes.Service{Box: d.Box, AllowPrivate: d.MailPrivate}
	tokens := emailsend.Tokens(d.Refresher)
	dialer := &transport.Dialer{AllowPrivate: d.MailPrivate, Name: transport.HelloName(d.MailHelo, d.LinkURL)}
	memory := imap.NewMemory()
	sent := &sentfolder.Finder{
		DB: d.App, Mailboxes: boxes, Dialer: &imap.Dialer{AllowPrivate: d.MailPrivate, Memory: memory},
		Sandbox: sandboxSent(d.Outbox), Token: tokens,
	}
	send := emailsend.Job{
		DB: d.App, Dialer: dialer, Sandbox: sandboxOf(d.Outbox), Token: tokens,
		Emails: &emails.Service{Box: d.Box, Mailboxes: boxes, Suppressions: &suppression.Service{Box: d.Box}},
		Sign:   mailSigner(d), Idle: &submission.Idle{},
	}
	engine := &enrolments.Engine{
		Emails: &emails.Service{
			Box: d.Box, Mailboxes: boxes, Suppressions: &suppression.Service{Box: d.Box}, PublicURL: d.LinkURL,
			InboundDomain: d.InboundDomain,
		},
		Templates: &templates.Service{Box: d.Box, PublicURL: d.LinkURL}, Model: d.Scores.In, Log: d.Log,
	}
	enrol := &enrolments.Service{Suppressions: &suppression.Service{Box: d.Box}}
	reads := &imapsync.Syncer{
		DB: d.App, Mailboxes: boxes, Inbound: inboundmail.Intake(d.App, d.Box), Token: tokens, Log: d.Log,
		Dialer: &imap.Dialer{
			AllowPrivate: d.MailPrivate, Timeout: imapsync.Timeout, MaxReceived: imapsync.MaxReceived, Memory: memory,
		},
	}
	received := inboundmail.Intake(d.App, d.Box)
	if d.AI != nil {
		received.Ask = func(ctx context.Context, tx *postgres.Tx, message id.ID) error {
			return inboundopinion.Kind.Add(ctx, tx, inboundopinion.Args{Message: message})
		}
	}

	return []queue.Handler{
		broadcastprepare.Handler(&broadcasts.Service{
			Emails: engine.Emails, Templates: engine.Templates, AllowPrivate: d.MailPrivate,
			Send: func(ctx context.Context, tx *postgres.Tx, email, mailbox id.ID) error {
				return emailsendbulk.Kind.Add(ctx, tx, emailsendbulk.Args{Email: email}, queue.ConcurrencyKey(mailbox))
			},
		}),
		sequencestep.Handler(engine),
		sequencemove.Handler(),
		sequenceenroll.Job{App: d.App, Enrolments: enrol, Pace: sequenceenroll.Usual()}.Handler(),
		sequenceenter.Job{Enrolments: enrol, Plans: plans.NewService(d.App, d.Plans)}.Handler(),
		sequencecompare.Handler(),
		sequencecount.Handler(),
		send.Handler(),
		emailsendbulk.Handler(send),
		mailboxcheck.Job{
			DB: d.App, Mailboxes: boxes, Dialer: dialer,
			Sandbox: sandboxOf(d.Outbox), Token: tokens, Sent: sent.Has,
			Records: d.Domains.CheckMail,
		}.Handler(),
		inboundmail.Job{Inbound: received}.Handler(),
		mailboxdomains.Job{System: d.System, Records: d.Domains.CheckMail}.Handler(),
		sendingdomains.Job{
			App: d.App, System: d.System, Domains: &orgsending.Domains{Box: d.Box, Texts: d.Domains.Texts},
		}.Handler(),
		mailboxsweep.Job{App: d.App, System: d.System}.Handler(),
		mailboxsync.Job{Syncer: reads}.Handler(),
		emailreconcile.Job{DB: d.App, Mailboxes: boxes, Search: sent.Has, Resend: enqueueAgain}.Handler(),
		suppressionimport.Job{Suppressions: &suppression.Service{Box: d.Box}, Log: d.Log}.Handler(),
	}
}

// mailSigner returns the function that signs the mails of sandbox mailboxes, and of relays with a verified domain.
func mailSigner(d *Deps) func(context.Context, id.ID, *mailboxes.Sending, []byte) ([]byte, error) {
	sandbox := outbox.Signer{App: d.App, Box: d.Box}
	relays := &orgsending.Signer{App: d.App, Box: d.Box}
	return func(ctx context.Context, org id.ID, m *mailboxes.Sending, mime []byte) ([]byte, error) {
		if m.Kind == mailboxes.Sandbox {
			return sandbox.Sign(ctx, org, m, mime)
		}
		return relays.Sign(ctx, org, m, mime)
	}
}

// sandboxOf returns the connector to a sandbox, or nil.
func sandboxOf(s *outbox.Server) func(context.Context, id.ID) (net.Conn, error) {
	if s == nil {
		return nil
	}
	return s.Dial
}

// sandboxSent returns the search for the mails that a sandbox has taken, or nil.
func sandboxSent(s *outbox.Server) func(context.Context, id.ID, string) (bool, error) {
	if s == nil {
		return nil
	}
	return s.Has
}

// enqueueAgain enqueues an email again, in the lane that it came from.
func enqueueAgain(ctx context.Context, tx *postgres.Tx, r *emails.Row) error {
	args := emailsend.Args{Email: r.ID}
	key := queue.ConcurrencyKey(r.MailboxID)
	if r.Automated() {
		return emailsendbulk.Kind.Add(ctx, tx, args, key)
	}
	return emailsend.Kind.Add(ctx, tx, args, key)
}
