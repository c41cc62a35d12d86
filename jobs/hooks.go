package jobs

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/contactbulk"
	"github.com/funnelwork/funnelwork/jobs/contactexport"
	"github.com/funnelwork/funnelwork/jobs/contactimport"
	"github.com/funnelwork/funnelwork/jobs/webhookdeliver"
	"github.com/funnelwork/funnelwork/jobs/webhookreplay"
)

// Hooks are those of every kind whose rows promise people a run of a job. Whatever changes jobs without running them
// has them in its ledger: the worker, the ops listener and the commands. publicURL begins the links to files in events;
// "" leaves them out.
//
// The kinds that are not here have no such rows (scores, mails, sweeps), or their rows say by themselves when they are
// looked at again, whatever becomes of a job (token.refresh, domain.verify, segment.sync, plan.settle).
func Hooks(publicURL string) queue.Hooks {
	links := linksOf(publicURL)
	return queue.HooksOf(append(contactimport.Hooks(links),
		contactbulk.Hook(),
		contactexport.Hook(links),
		webhookdeliver.Hook(),
		webhookreplay.Hook(),
	)...)
}

// linksOf begins the links to files.
func linksOf(publicURL string) string {
	if publicURL == "" {
		return ""
	}
	return strings.TrimSuffix(publicURL, "/") + "/api/v1/files/"
}
