package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/worker"
)

// If a superseded task delivers after all, its job is archived under the current task ID only.
func TestADeadJobIsListedUnderOneNameThoughTwoOfItsTasksDeliver(t *testing.T) {
	t.Parallel()
	for name, missed := range map[string]float64{"dead before both": 2, "dies in the run of the older one": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			named := queue.Define[none]("test.named", queue.Options{})
			reg, looked := prometheus.NewRegistry(), false
			h.add(adding(named, none{}))
			h.exec("UPDATE job SET wake_at = now()")
			h.work(worker.Options{Metrics: worker.NewMetrics(reg), Timing: worker.Timing{Look: time.Hour}},
				named.Handle(func(ctx context.Context, _ *queue.Run[none]) error {
					if !looked {
						looked = true
						return nil
					}
					raised := h.db.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
						tx.Queue("UPDATE job SET dispatch = 1") // as the relay does if it takes the task for stuck
						return nil
					})
					return queue.Drop(errors.Join(errors.New("never"), raised))
				}))
			h.until(giveUpAfter, "the relay's only look is over", func() bool { return len(h.jobs()) == 0 })
			h.add(adding(named, none{}))
			first := h.only().ref()
			if missed == 2 {
				h.exec("UPDATE job SET state = 'dead', last_error = 'archived', dispatch = 1, wake_at = NULL")
			}
			h.push(first)
			h.until(giveUpAfter, "it is dead", func() bool {
				return h.count("SELECT count(*) FROM job WHERE state = 'dead'") == 1
			})
			second := first
			second.Dispatch++
			h.push(second)
			var listed []*asynq.TaskInfo
			h.until(giveUpAfter, "both have been delivered", func() bool {
				info, err := h.inspect().GetQueueInfo("default")
				if err != nil || info.Pending+info.Active > 0 ||
					value(t, reg, "funnelwork_jobs_missed_claims_total") != missed {
					return false
				}
				listed, err = h.inspect().ListArchivedTasks("default")
				return err == nil
			})
			if len(listed) != 1 || listed[0].ID != second.TaskID() {
				t.Errorf("%d are listed, want %s alone", len(listed), second.TaskID())
			}
		})
	}
}

// The relay supersedes a task that is active while it looks. If the task is archived in the same moment, asynq lists
// the job under both names.
func TestADeadJobThatIsListedUnderTwoNamesLosesTheOlderOne(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(mark, none{}))
	older := h.only().ref()
	current := older
	current.Dispatch++
	h.push(older, current)
	for _, r := range []queue.Ref{older, current} {
		if err := h.inspect().ArchiveTask("default", r.TaskID()); err != nil {
			t.Fatal(err)
		}
	}
	h.exec("UPDATE job SET state = 'dead', last_error = 'archived', dispatch = 1, wake_at = now()")
	h.work(worker.Options{})
	h.until(giveUpAfter, "the current name alone is listed", func() bool {
		listed, err := h.inspect().ListArchivedTasks("default")
		return err == nil && len(listed) == 1 && listed[0].ID == current.TaskID() && h.only().WakeAt == nil
	})
}
