// Package sequenceenter enrols the contacts that have entered the segments of sequences.
//
// The job that finds that a contact has entered a segment (segmentsync) writes a row for each sequence that enrols from
// it, in the same transaction. No request enqueues this job: each worker looks for orgs with such rows (Watch) and adds
// one job per org, which enrols the contacts and deletes the rows in its own transaction. So each entry is taken into
// account exactly once.
package sequenceenter

import "github.com/funnelwork/funnelwork/internal/queue"

// Args is empty: the job takes the entries of its org that are due.
type Args struct{}

// Kind is one run of one org. It only writes rows.
var Kind = queue.Define[Args]("sequence.enter", queue.Options{Lane: queue.Default, MaxAttempts: 12})

// Key is the dedupe key that limits an org to one open job.
const Key = "sequence.enter"
