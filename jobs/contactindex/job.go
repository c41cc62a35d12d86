// Package contactindex keeps the word indexes of large orgs current; internal/contacts/wordindex describes them.
//
// Writers of contacts add no jobs. They leave marks, and never wait for each other because of these. A sweep every 20
// seconds (jobs/contactindexsweep) makes an index due when its org has thousands of marks. A sweep every hour creates
// the indexes of orgs that have become large. Each worker polls several times a second for due indexes (Watch) and adds
// a job for each.
package contactindex

import "github.com/funnelwork/funnelwork/internal/queue"

// Args is empty: the job does all due work of its org.
type Args struct{}

// Kind is one run for one org. It only writes rows.
var Kind = queue.Define[Args]("contact.index", queue.Options{Lane: queue.Bulk, MaxAttempts: 12})

// Key is the dedupe key that limits an org to one open job.
const Key = "contact.index"
