package jobs

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/jobs/broadcastprepare"
	"github.com/funnelwork/funnelwork/jobs/contactbulk"
	"github.com/funnelwork/funnelwork/jobs/contactexport"
	"github.com/funnelwork/funnelwork/jobs/contactimport"
	"github.com/funnelwork/funnelwork/jobs/contactimportundo"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
	"github.com/funnelwork/funnelwork/jobs/emailsendbulk"
	"github.com/funnelwork/funnelwork/jobs/scoretrain"
	"github.com/funnelwork/funnelwork/jobs/sequenceenroll"
	"github.com/funnelwork/funnelwork/jobs/sequencemove"
	"github.com/funnelwork/funnelwork/jobs/suppressionimport"
	"github.com/funnelwork/funnelwork/jobs/webhookdeliver"
	"github.com/funnelwork/funnelwork/jobs/webhookreplay"
)

// Hooks returns the hooks of every kind with rows that depend on a future run of a job. Every process that changes jobs
// without running them needs them in its Store: the worker, the ops listener and the commands. publicURL is the prefix
// of links to files in events; "" leaves the links out.
//
// Kinds without a hook have no such rows (scores, mails, sweeps), or keep what they have not processed until an
// operator runs them again (inbound.mail), or their rows become due by themselves, whatever
// happens to a job (token.refresh, domain.verify, segment.sync, contact.index, overview.count, plan.settle,
// sequence.step, sequence.enter, sequence.compare, sequence.count).
func Hooks(publicURL string) store.Hooks {
	links := linksOf(publicURL)
	return store.HooksOf(
		broadcastprepare.Hook(),
		contactimport.Hook(links),
		contactimportundo.Hook(),
		contactbulk.Hook(),
		contactexport.Hook(links),
		emailsend.Hook(),
		emailsendbulk.Hook(),
		scoretrain.Hook(),
		sequenceenroll.Hook(),
		sequencemove.Hook(),
		suppressionimport.Hook(),
		webhookdeliver.Hook(),
		webhookreplay.Hook(),
	)
}

// linksOf returns the prefix of links to files.
func linksOf(publicURL string) string {
	if publicURL == "" {
		return ""
	}
	return strings.TrimSuffix(publicURL, "/") + "/api/v1/files/"
}
