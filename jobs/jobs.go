// Package jobs lists the kinds of jobs. Each kind has its own package in a directory beside this file.
package jobs

import (
	"context"
	"log/slog"
	"slices"

	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/archive"
	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/contacts/refold"
	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/contacts/wordindex"
	"github.com/funnelwork/funnelwork/internal/emails/replyjournal"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/sandbox/outbox"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/sequences/counts"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs/accountnotice"
	"github.com/funnelwork/funnelwork/jobs/adaccountsdaily"
	"github.com/funnelwork/funnelwork/jobs/adaccountssync"
	"github.com/funnelwork/funnelwork/jobs/aisweep"
	"github.com/funnelwork/funnelwork/jobs/contactbulk"
	"github.com/funnelwork/funnelwork/jobs/contactduplicates"
	"github.com/funnelwork/funnelwork/jobs/contactexport"
	"github.com/funnelwork/funnelwork/jobs/contactimport"
	"github.com/funnelwork/funnelwork/jobs/contactimportundo"
	"github.com/funnelwork/funnelwork/jobs/contactindex"
	"github.com/funnelwork/funnelwork/jobs/contactindexsweep"
	"github.com/funnelwork/funnelwork/jobs/domainsweep"
	"github.com/funnelwork/funnelwork/jobs/domainverify"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
	"github.com/funnelwork/funnelwork/jobs/inboundmail"
	"github.com/funnelwork/funnelwork/jobs/inboundopinion"
	"github.com/funnelwork/funnelwork/jobs/keysreseal"
	"github.com/funnelwork/funnelwork/jobs/leadfade"
	"github.com/funnelwork/funnelwork/jobs/leadrescore"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
	"github.com/funnelwork/funnelwork/jobs/leadscoremany"
	"github.com/funnelwork/funnelwork/jobs/overviewcount"
	"github.com/funnelwork/funnelwork/jobs/plansweep"
	"github.com/funnelwork/funnelwork/jobs/platformredrive"
	"github.com/funnelwork/funnelwork/jobs/platformretention"
	"github.com/funnelwork/funnelwork/jobs/quotaannounce"
	"github.com/funnelwork/funnelwork/jobs/scoretrain"
	"github.com/funnelwork/funnelwork/jobs/scoretrainnight"
	"github.com/funnelwork/funnelwork/jobs/segmentsync"
	"github.com/funnelwork/funnelwork/jobs/sequencecompare"
	"github.com/funnelwork/funnelwork/jobs/sequencecount"
	"github.com/funnelwork/funnelwork/jobs/sequenceenter"
	"github.com/funnelwork/funnelwork/jobs/sequencestep"
	"github.com/funnelwork/funnelwork/jobs/tokenrefresh"
	"github.com/funnelwork/funnelwork/jobs/tokenrevoke"
	"github.com/funnelwork/funnelwork/jobs/tokensweep"
	"github.com/funnelwork/funnelwork/jobs/trackingjudge"
	"github.com/funnelwork/funnelwork/jobs/webhookdeliver"
	"github.com/funnelwork/funnelwork/jobs/webhookhealth"
	"github.com/funnelwork/funnelwork/jobs/webhookreplay"
)

// Deps is the dependencies of the jobs.
type Deps struct {
	App, System *postgres.DB
	Reads       *standby.Reader // nil: all reads are from App
	Log         *slog.Logger
	Box         *secret.Sealer
	SMTP        *mail.SMTP // nil: system mail goes to the sandbox mailbox, unless NoMail
	NoMail      bool       // mail is off: no mail is written, and waiting mails are not sent
	// PublicURL is the base URL, without a slash at the end, of logos in mails and files in events; "" leaves them out.
	PublicURL string
	// LinkURL is the base URL, without a slash at the end, of the links in the emails of sequences.
	LinkURL    string
	Hooks      *webhooks.Service
	Calls      *outbound.Client
	Deliveries *webhookdeliver.Metrics // may be nil
	Plans      *plans.Catalogue        // nil: the default catalogue
	Billing    *billing.Service        // nil: billing is not configured
	Social     *social.Service
	Refresher  *social.Refresher
	Domains    *branding.Domains
	AI         ai.Provider  // nil: no model is asked about incoming mail
	Scores     *models.Book // nil: a new Book on App
	// Outbox takes the mails of sandbox mailboxes; nil: they wait. MailPrivate lifts the rules on the addresses, ports
	// and TLS of mailboxes.
	Outbox      *outbox.Server
	MailPrivate bool
	// MailHelo is the name that mailboxes greet their servers with; "": the host of LinkURL.
	MailHelo string
	Replies  *replyjournal.Journal // nil: final replies of mail servers are not kept
	// InboundDomain is that of the API's listener for incoming mail; "": none.
	InboundDomain string
	// Archive takes expired days of events, deliveries and attempts; nil: they are dropped. Keep is how many are kept.
	Archive  archive.Objects
	Archived *archive.Metrics // may be nil
	Keep     platformretention.Keep
}

// All returns every kind's handler: what a worker runs.
func All(d Deps) []queue.Handler {
	if d.Scores == nil {
		d.Scores = models.NewBook(d.App, d.Log)
	}
	if d.Plans == nil {
		d.Plans = entitlementsync.Standard()
	}
	if d.Reads == nil {
		d.Reads = standby.Primary(d.App)
	}
	links := linksOf(d.PublicURL)
	ledger := store.New(d.App, d.System)
	ledger.Hooks = Hooks(d.PublicURL)
	imports := contactimport.Job{Plans: d.Plans, Model: d.Scores.In, Links: links, Log: d.Log}
	scores := leadscore.Job{Model: d.Scores.In}
	all := slices.Concat(billingHandlers(&d), mailHandlers(&d), emailHandlers(&d), []queue.Handler{
		accountnotice.Job{App: d.App, System: d.System, Social: d.Social}.Handler(),
		adaccountsdaily.Job{Refresher: d.Refresher}.Handler(),
		adaccountssync.Job{Refresher: d.Refresher, Log: d.Log}.Handler(),
		aisweep.Job{App: d.App, System: d.System}.Handler(),
		contactbulk.Job{App: d.App, Plans: d.Plans, Scores: d.Scores, Pace: contactbulk.Usual()}.Handler(),
		contactduplicates.Job{App: d.App}.Handler(),
		contactexport.Job{Links: links, Log: d.Log, Reads: d.Reads}.Handler(),
		imports.Handler(),
		contactimportundo.Job{Import: imports}.Handler(),
		contactindex.Job{Pace: wordindex.Usual()}.Handler(),
		contactindexsweep.Job{
			System: d.System, App: d.App, Pace: wordindex.Usual(), Large: wordindex.Large,
			Refold: &refold.Refolder{System: d.System, App: d.App, Log: d.Log, Retag: enqueueRetag},
		}.Handler(),
		domainsweep.Job{Domains: d.Domains}.Handler(),
		domainverify.Job{App: d.App, Domains: d.Domains, Plans: plans.NewService(d.App, d.Plans)}.Handler(),
		entitlementsync.Job{Plans: d.Plans}.Handler(),
		keysreseal.Job{
			Resealer: keyring.Resealer{System: d.System, Box: d.Box, Columns: Sealed()},
			Log:      d.Log,
		}.Handler(),
		inboundopinion.Job{
			App: d.App, AI: d.AI, Plans: plans.NewService(d.App, d.Plans), Log: d.Log,
			Inbound: inboundmail.Intake(d.App, d.Box),
		}.Handler(),
		leadfade.Job{System: d.System}.Handler(),
		leadrescore.Job{}.Handler(),
		scores.Handler(),
		leadscoremany.Handler(scores),
		overviewcount.Job{}.Handler(),
		plansweep.Job{System: d.System, Plans: d.Plans}.Handler(),
		platformredrive.Job{Operator: operator.New(ledger, nil)}.Handler(),
		platformretention.Job{
			System: d.System, Log: d.Log, Keep: d.Keep, Plans: d.Plans, Archive: d.Archive, Archived: d.Archived,
		}.Handler(),
		quotaannounce.Handler(),
		scoretrain.Job{Reads: d.Reads}.Handler(),
		scoretrainnight.Job{System: d.System}.Handler(),
		segmentsync.Job{Pace: segments.Usual()}.Handler(),
		trackingjudge.Handler(),
		tokenrefresh.Job{Refresher: d.Refresher}.Handler(),
		tokenrevoke.Kind.Handle(tokenrevoke.Job{App: d.App, System: d.System, Social: d.Social, Log: d.Log}.Work),
		tokensweep.Job{Refresher: d.Refresher}.Handler(),
		(&webhookdeliver.Job{DB: d.App, Hooks: d.Hooks, Client: d.Calls, Metrics: d.Deliveries}).Handler(),
		webhookhealth.Job{App: d.App, System: d.System, Hooks: d.Hooks, Log: d.Log}.Handler(),
		webhookreplay.Job{Hooks: d.Hooks, Pace: webhookreplay.Usual()}.Handler(),
	})
	ledger.Aliases = store.AliasesOf(all)
	return all
}

// Aliases returns the aliases of the kinds that are being renamed. Every process that reads or changes jobs needs them
// in its Store, like Hooks.
func Aliases() store.Aliases { return store.AliasesOf(All(Deps{})) }

// Watches returns the functions that a worker calls in a loop. They find work that no request enqueues.
func Watches(d Deps) []func(context.Context) error {
	return []func(context.Context) error{
		segmentsync.Watch(d.App, d.System),
		contactindex.Watch(d.App, d.System),
		overviewcount.Watch(d.App, d.System),
		trackingjudge.Watch(d.App, d.System),
		sequencestep.Watch(d.App, d.System),
		sequenceenter.Watch(d.App, d.System),
		sequencecompare.Watch(d.App, d.System),
		sequencecount.Watch(d.App, d.System),
		(&counts.Folder{DB: d.System}).Fold,
		(&events.HorizonPublisher{DB: d.System}).Publish,
	}
}

// enqueueRetag enqueues the job of a bulk change that rewrites the spellings of a tag.
func enqueueRetag(ctx context.Context, tx *postgres.Tx, change id.ID) error {
	return contactbulk.Kind.Add(ctx, tx, contactbulk.Args{Bulk: change})
}
