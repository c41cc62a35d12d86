// Package segmentsync keeps the memberships of dynamic segments current. internal/contacts/segments describes how, and
// why no change is missed.
//
// # How the job is enqueued
//
// A request that changes a contact does not enqueue the job. It leaves a mark, which never blocks. A writer that added
// a job with a dedupe key would wait until the commit of every other writer with the same key, and hold its contacts'
// locks meanwhile. Instead, each worker looks for orgs with marks (Watch) and adds the job in a separate transaction.
// If the job is already open, Watch adds none: if that job has already read the marks, the next call of Watch finds the
// rest.
package segmentsync

import "github.com/funnelwork/funnelwork/internal/queue"

// Args is empty: the job processes all marks of its org.
type Args struct{}

// Kind is one run for one org. It only writes rows, so each difference is written and announced exactly once.
var Kind = queue.Define[Args]("segment.sync", queue.Options{Lane: queue.Default, MaxAttempts: 12})

// Key is the dedupe key that limits an org to one open job.
const Key = "segment.sync"
