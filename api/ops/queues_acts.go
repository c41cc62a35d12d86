package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/hibiken/asynq"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
)

// batchBody is asynqmon's size limit for the body of a batch.
const batchBody = 1_000_000

// errNoTask is the error for an id that is neither a task in asynq nor a job.
var errNoTask = &requestError{http.StatusNotFound, "task not found"}

// executeAction executes w and responds like asynqmon.
func (d *dashboard) executeAction(rw http.ResponseWriter, r *http.Request, w dashboardAction) {
	ctx := r.Context()
	switch {
	case w.state == "":
		d.grantPause(rw, r, w)
	case w.verb == "cancel":
		d.grantCancel(rw, r, w)
	case w.many == "":
		if err := d.applyToTasks(ctx, w, w.task)[w.task]; err != nil {
			d.respondError(rw, r, err)
			return
		}
		rw.WriteHeader(http.StatusNoContent)
	case w.many == "batch":
		ids, err := taskIDs(rw, r)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		done := []string{}
		failed := []string{}
		said := d.applyToTasks(ctx, w, ids...)
		for _, task := range ids {
			if said[task] == nil {
				done = append(done, task)
			} else {
				failed = append(failed, task)
			}
		}
		names := map[string][2]string{
			"delete": {"deleted_ids", "failed_ids"}, "run": {"pending_ids", "error_ids"},
			"archive": {"archived_ids", "error_ids"},
		}[w.verb]
		showJSON(rw, http.StatusOK, map[string][]string{names[0]: done, names[1]: failed})
	default:
		ids, err := d.listTasks(w)
		if err != nil {
			d.respondError(rw, r, err)
			return
		}
		n := 0
		for _, err := range d.applyToTasks(ctx, w, ids...) {
			if err == nil {
				n++
			}
		}
		name := map[string]string{"delete": "deleted", "run": "scheduled", "archive": "archived"}[w.verb]
		showJSON(rw, http.StatusOK, map[string]int{name: n})
	}
}

func (d *dashboard) respondError(rw http.ResponseWriter, r *http.Request, err error) {
	var said *requestError
	switch {
	case errors.As(err, &said):
		http.Error(rw, said.text, said.status)
	case postgres.Away(err), postgres.TimedOut(err):
		rw.Header().Set("Retry-After", "1")
		http.Error(rw, "postgres is unavailable", http.StatusServiceUnavailable)
	default:
		d.log.WarnContext(r.Context(), "dashboard action failed", "path", r.URL.Path, "error", err)
		http.Error(rw, asynqx.Text(err), http.StatusInternalServerError)
	}
}

// grantPause pauses or resumes a lane. It leaves a queue that is not a lane to asynqmon, if asynq knows the queue.
func (d *dashboard) grantPause(rw http.ResponseWriter, r *http.Request, w dashboardAction) {
	act := d.jobs.operator.Pause
	if w.verb == "resume" {
		act = d.jobs.operator.Resume
	}

	_, err := act(r.Context(), d.jobs.actorWith("dashboard"), "lane", w.queue)
	switch {
	case errors.Is(err, operator.ErrScope):
		if known, err := d.inspect.Queues(); err == nil && !slices.Contains(known, w.queue) {
			http.Error(rw, "there is no such queue", http.StatusNotFound)
			return
		}
		d.HTTPHandler.ServeHTTP(rw, r)
	case err != nil:
		d.respondError(rw, r, err)
	default:
		rw.WriteHeader(http.StatusNoContent)
	}
}

// grantCancel records the cancellation in the audit log and lets asynq perform it. The run's context ends, and the
// worker snoozes the job for a minute.
func (d *dashboard) grantCancel(rw http.ResponseWriter, r *http.Request, w dashboardAction) {
	by := d.jobs.actorWith("dashboard")
	ids := []string{w.task}
	switch w.many {
	case "all":
		by.Scope = "all active of " + w.queue
		ids = nil
	case "batch":
		whole, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, batchBody))
		if err == nil {
			r.Body = io.NopCloser(bytes.NewReader(whole))
			ids, err = taskIDs(rw, r)
			r.Body = io.NopCloser(bytes.NewReader(whole))
		}
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
	}

	var jobs []id.ID
	for _, task := range ids {
		if job, ok := jobOf(task); ok {
			jobs = append(jobs, job)
		}
	}

	if err := d.jobs.operator.Audit(r.Context(), by, "cancel", jobs...); err != nil {
		d.respondError(rw, r, err)
		return
	}

	d.HTTPHandler.ServeHTTP(rw, r)
}

// taskIDs parses the body of a batch, as strictly as asynqmon does.
func taskIDs(rw http.ResponseWriter, r *http.Request) ([]string, error) {
	dec := json.NewDecoder(http.MaxBytesReader(rw, r.Body, batchBody))
	dec.DisallowUnknownFields()
	var in struct {
		TaskIDs []string `json:"task_ids"`
	}
	err := dec.Decode(&in)
	return in.TaskIDs, err
}

// jobOf returns the job id of a task id, which has the form "id:dispatch".
func jobOf(task string) (id.ID, bool) {
	name, _, ok := cutLast(task)
	job, err := id.Parse(name)
	return job, ok && err == nil
}

// applyToTasks applies w to the jobs of the tasks, in Postgres first. It returns an error per task; nil means done.
func (d *dashboard) applyToTasks(ctx context.Context, w dashboardAction, tasks ...string) map[string]error {
	out := make(map[string]error, len(tasks))
	keys, err := d.jobKeys(ctx, w.queue, tasks)
	if err != nil {
		for _, task := range tasks {
			out[task] = err
		}
		return out
	}

	var named []string
	var of []operator.Key
	for _, task := range tasks {
		if k, ok := keys[task]; ok {
			named = append(named, task)
			of = append(of, k)
		} else {
			out[task] = d.deleteStray(w.queue, task)
		}
	}

	by := d.jobs.actorWith("dashboard")
	if w.many == "all" {
		by.Scope = "all " + w.state + " of " + w.queue
	}

	acts := map[string]func(context.Context, operator.By, ...operator.Key) ([]operator.Result, error){
		"run": d.jobs.operator.Run, "archive": d.jobs.operator.Archive, "delete": d.jobs.operator.Drop,
	}
	results, err := acts[w.verb](ctx, by, of...)
	for i, task := range named {
		switch {
		case i >= len(results) || results[i] == "":
			out[task] = err
		case results[i] == operator.Held:
			out[task] = errHeld
		case results[i] == operator.Gone:
			out[task] = d.deleteStray(w.queue, task)
		case results[i] == operator.Unfit: // the job is dead already: archive its task
			_ = d.inspect.ArchiveTask(w.queue, task)
			out[task] = nil
		default:
			d.deleteOutdated(w, task)
			out[task] = nil
		}
	}

	return out
}

// jobKeys returns the jobs of the tasks. It reads the payload, which names the org. For tasks that asynq no longer has
// or cannot read, it looks up the job id contained in the task id.
func (d *dashboard) jobKeys(ctx context.Context, name string, tasks []string) (map[string]operator.Key, error) {
	out := make(map[string]operator.Key, len(tasks))
	asked := map[id.ID][]string{}
	var ids []id.ID
	for _, task := range tasks {
		info, err := d.inspect.GetTaskInfo(name, task)
		if err == nil {
			if t, err := dispatch.ReadTask(info.Payload); err == nil {
				out[task] = operator.Key{Org: t.Org, ID: t.ID}
			}
			continue
		}
		if job, ok := jobOf(task); ok {
			ids = append(ids, job)
			asked[job] = append(asked[job], task)
		}
	}

	if len(ids) == 0 {
		return out, nil
	}

	found, err := d.jobs.operator.Locate(ctx, ids...)
	for _, k := range found {
		for _, task := range asked[k.ID] {
			out[task] = k
		}
	}

	return out, err
}

// deleteStray deletes a task without a job, whatever the requested action.
func (d *dashboard) deleteStray(name, task string) error {
	err := d.inspect.DeleteTask(name, task)
	if errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) {
		return errNoTask
	}
	if asynqx.IsActive(err) {
		return &requestError{http.StatusConflict, "a worker has this task, and will find that it has no job"}
	}
	return err
}

// deleteOutdated deletes the task if its state is outdated after the action: the task was left under an older id of its
// job, or asynq was not updated. If the job needs a task, the relay creates one.
func (d *dashboard) deleteOutdated(w dashboardAction, task string) {
	info, err := d.inspect.GetTaskInfo(w.queue, task)
	if err != nil {
		return
	}

	outdated := map[string][]asynq.TaskState{
		"run":     {asynq.TaskStateArchived, asynq.TaskStateRetry, asynq.TaskStateScheduled, asynq.TaskStateCompleted},
		"archive": {asynq.TaskStatePending, asynq.TaskStateRetry, asynq.TaskStateScheduled, asynq.TaskStateCompleted},
		"delete": {
			asynq.TaskStatePending, asynq.TaskStateRetry, asynq.TaskStateScheduled, asynq.TaskStateCompleted,
			asynq.TaskStateArchived,
		},
	}
	if slices.Contains(outdated[w.verb], info.State) {
		_ = d.inspect.DeleteTask(w.queue, task)
	}
}

// listTasks returns every task of a list. It reads page by page until a round finds no new task, at most three rounds,
// since the list changes while it is read.
func (d *dashboard) listTasks(w dashboardAction) ([]string, error) {
	list := map[string]func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error){
		"pending": d.inspect.ListPendingTasks, "scheduled": d.inspect.ListScheduledTasks,
		"retry":    d.inspect.ListRetryTasks,
		"archived": d.inspect.ListArchivedTasks, "completed": d.inspect.ListCompletedTasks,
	}[w.state]
	const size = 1000
	seen := map[string]bool{}
	var ids []string
	for round, found := 0, true; found && round < 3; round++ {
		found = false
		for page := 1; ; page++ {
			tasks, err := list(w.queue, asynq.Page(page), asynq.PageSize(size))
			if err != nil {
				return nil, fmt.Errorf("list %s of %s: %w", w.state, w.queue, err)
			}

			for _, t := range tasks {
				if !seen[t.ID] {
					seen[t.ID] = true
					found = true
					ids = append(ids, t.ID)
				}
			}

			if len(tasks) < size {
				break
			}
		}
	}

	return ids, nil
}
