// Package leadscore is the background scoring of contacts: it refines what the request computed from history, records
// it, and tells of scores that have moved.
package leadscore

import (
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args name the contacts to score, all of the job's org: one after a change of a contact, up to perJob after a batch.
type Args struct {
	Contacts []id.ID `json:"contacts"`
}

// perJob is how many contacts one job scores: its rows stay locked until it ends, so that it must be quick.
const perJob = 50

// Split is a as the jobs that it takes: none for no contacts.
func (a Args) Split() []Args {
	var parts []Args
	for part := range slices.Chunk(a.Contacts, perJob) {
		parts = append(parts, Args{Contacts: part})
	}
	return parts
}

// Kind is asked for whenever a field that the org's scorer uses has changed. Its effects are rows alone, so it runs
// exactly once; run again it finds nothing to change. There is no dedupe key on purpose: an asker, who holds the
// contact's row, would wait for the job's row while the job waits for the contact's.
var Kind = queue.Define[Args]("lead.score", queue.Options{Lane: queue.Default})

// Many is Kind for those who change contacts by the thousand: their scores wait behind nobody's single change.
var Many = queue.Define[Args]("lead.score_many", queue.Options{Lane: queue.Bulk})
