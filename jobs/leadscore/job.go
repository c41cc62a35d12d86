// Package leadscore scores changed contacts in the background: it records the score that the model in use gives them,
// and announces scores that have moved. A new contact needs no job, because its score is recorded as it is created.
package leadscore

import (
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is the contacts to score, all of the job's org: one after a change of a contact, up to perJob after a batch.
type Args struct {
	Contacts []id.ID `json:"contacts"`
}

// perJob is how many contacts one job scores. Their rows stay locked until the job ends, so the job must be short.
const perJob = 50

// Split divides a into arguments of at most perJob contacts. It returns none for no contacts.
func (a Args) Split() []Args {
	var parts []Args
	for part := range slices.Chunk(a.Contacts, perJob) {
		parts = append(parts, Args{Contacts: part})
	}
	return parts
}

// Kind is enqueued when a field that the org's scorer uses has changed, and when the contact has answered a mail or
// followed a link of one. It only writes rows, so it runs exactly once; a
// repeated run changes nothing. It has no dedupe key on purpose: a request, which locks the contact's row, would wait
// for the job's row while the job waits for the contact's.
var Kind = queue.Define[Args]("lead.score", queue.Options{Lane: queue.Default})
