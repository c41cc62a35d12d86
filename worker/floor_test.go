package worker_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/worker"
)

// The job's transaction was open for longer than the relay's scans look back.
func TestAJobThatIsCommittedBehindTheFloorIsFoundWithinALease(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.work(worker.Options{Timing: worker.Timing{Lease: 2 * time.Second}}, mark.HandleTx(markWork))
	h.add(adding(mark, none{}))
	h.until(giveUpAfter, "a floor is published", func() bool {
		h.add(adding(mark, none{}))
		return h.count("SELECT count(*) FROM job_floor WHERE at > now() - interval '1 minute'") > 0
	})
	h.exec(`INSERT INTO job (org_id, id, kind, args, lane, max_attempts, wake_at)
		VALUES ($1, gen_random_uuid(), 'test.mark', '{}', 'default', 3, now() - interval '5 minutes')`, h.org)
	h.until(giveUpAfter, "all jobs have run", func() bool { return len(h.jobs()) == 0 })
}
