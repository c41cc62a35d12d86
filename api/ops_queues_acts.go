package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/hibiken/asynq"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// asynqmon's bound on the body of a batch.
const batchBody = 1_000_000

// errNoTask is a task that is neither in asynq nor a job.
var errNoTask = &opsError{http.StatusNotFound, "task not found"}

// grant does what w asks and answers as asynqmon would.
func (d *dashboard) grant(rw http.ResponseWriter, r *http.Request, w wish) {
	ctx := r.Context()
	switch {
	case w.state == "":
		d.grantPause(rw, r, w)
	case w.verb == "cancel":
		d.grantCancel(rw, r, w)
	case w.many == "":
		if err := d.act(ctx, w, w.task)[w.task]; err != nil {
			d.refuse(rw, r, err)
			return
		}
		rw.WriteHeader(http.StatusNoContent)
	case w.many == "batch":
		ids, err := taskIDs(rw, r)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		done, failed := []string{}, []string{}
		said := d.act(ctx, w, ids...)
		for _, task := range ids {
			if said[task] == nil {
				done = append(done, task)
			} else {
				failed = append(failed, task)
			}
		}
		names := map[string][2]string{"delete": {"deleted_ids", "failed_ids"}, "run": {"pending_ids", "error_ids"}, "archive": {"archived_ids", "error_ids"}}[w.verb]
		showJSON(rw, http.StatusOK, map[string][]string{names[0]: done, names[1]: failed})
	default:
		ids, err := d.listed(w)
		if err != nil {
			d.refuse(rw, r, err)
			return
		}
		n := 0
		for _, err := range d.act(ctx, w, ids...) {
			if err == nil {
				n++
			}
		}
		name := map[string]string{"delete": "deleted", "run": "scheduled", "archive": "archived"}[w.verb]
		showJSON(rw, http.StatusOK, map[string]int{name: n})
	}
}

func (d *dashboard) refuse(rw http.ResponseWriter, r *http.Request, err error) {
	var said *opsError
	switch {
	case errors.As(err, &said):
		http.Error(rw, said.text, said.status)
	case postgres.Away(err):
		rw.Header().Set("Retry-After", "1")
		http.Error(rw, "postgres is away, and it decides", http.StatusServiceUnavailable)
	default:
		d.log.WarnContext(r.Context(), "the dashboard's wish was not granted", "path", r.URL.Path, "error", err)
		http.Error(rw, strings.TrimPrefix(err.Error(), "asynq: "), http.StatusInternalServerError)
	}
}

// grantPause pauses or resumes a lane. A queue that is none is asynq's alone, where asynq knows it.
func (d *dashboard) grantPause(rw http.ResponseWriter, r *http.Request, w wish) {
	act := d.desk.operator.Pause
	if w.verb == "resume" {
		act = d.desk.operator.Resume
	}
	_, err := act(r.Context(), d.desk.by("dashboard"), "lane", w.queue)
	switch {
	case errors.Is(err, queue.ErrScope):
		if known, err := d.inspect.Queues(); err == nil && !slices.Contains(known, w.queue) {
			http.Error(rw, "there is no such queue", http.StatusNotFound)
			return
		}
		d.HTTPHandler.ServeHTTP(rw, r)
	case err != nil:
		d.refuse(rw, r, err)
	default:
		rw.WriteHeader(http.StatusNoContent)
	}
}

// grantCancel leaves the cancelling to asynq: the run's context ends, and the worker puts its job off by a minute.
func (d *dashboard) grantCancel(rw http.ResponseWriter, r *http.Request, w wish) {
	by := d.desk.by("dashboard")
	ids := []string{w.task}
	switch w.many {
	case "all":
		by.Scope, ids = "all active of "+w.queue, nil
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
	if err := d.desk.operator.Note(r.Context(), by, "cancel", jobs...); err != nil {
		d.refuse(rw, r, err)
		return
	}
	d.HTTPHandler.ServeHTTP(rw, r)
}

// taskIDs reads the body of a batch, as strictly as asynqmon does.
func taskIDs(rw http.ResponseWriter, r *http.Request) ([]string, error) {
	dec := json.NewDecoder(http.MaxBytesReader(rw, r.Body, batchBody))
	dec.DisallowUnknownFields()
	var in struct {
		TaskIDs []string `json:"task_ids"`
	}
	err := dec.Decode(&in)
	return in.TaskIDs, err
}

// jobOf is the job in a task's name, "id:dispatch".
func jobOf(task string) (id.ID, bool) {
	name, _, ok := cutLast(task)
	job, err := id.Parse(name)
	return job, ok && err == nil
}

// act does w to the jobs of the tasks, Postgres first, and answers what each came to; nil is done.
func (d *dashboard) act(ctx context.Context, w wish, tasks ...string) map[string]error {
	out := make(map[string]error, len(tasks))
	keys, err := d.keys(ctx, w.queue, tasks)
	if err != nil {
		for _, task := range tasks {
			out[task] = err
		}
		return out
	}
	var named []string
	var of []queue.Key
	for _, task := range tasks {
		if k, ok := keys[task]; ok {
			named, of = append(named, task), append(of, k)
		} else {
			out[task] = d.stray(w.queue, task)
		}
	}
	by := d.desk.by("dashboard")
	if w.many == "all" {
		by.Scope = "all " + w.state + " of " + w.queue
	}
	acts := map[string]func(context.Context, queue.By, ...queue.Key) ([]queue.Result, error){
		"run": d.desk.operator.Run, "archive": d.desk.operator.Archive, "delete": d.desk.operator.Drop,
	}
	results, err := acts[w.verb](ctx, by, of...)
	for i, task := range named {
		switch {
		case i >= len(results) || results[i] == "":
			out[task] = err
		case results[i] == queue.Held:
			out[task] = errHeld
		case results[i] == queue.Gone:
			out[task] = d.stray(w.queue, task)
		case results[i] == queue.Unfit: // asked to be archived, and dead already: so it is listed as that
			_ = d.inspect.ArchiveTask(w.queue, task)
			out[task] = nil
		default:
			d.tidy(w, task)
			out[task] = nil
		}
	}
	return out
}

// keys finds the jobs of tasks: by the payload, which says the org, or, of tasks that asynq no longer has or
// cannot read, by the id in their names.
func (d *dashboard) keys(ctx context.Context, name string, tasks []string) (map[string]queue.Key, error) {
	out := make(map[string]queue.Key, len(tasks))
	asked := map[id.ID][]string{}
	var ids []id.ID
	for _, task := range tasks {
		info, err := d.inspect.GetTaskInfo(name, task)
		if err == nil {
			if t, err := queue.ReadTask(info.Payload); err == nil {
				out[task] = queue.Key{Org: t.Org, ID: t.ID}
			}
			continue
		}
		if job, ok := jobOf(task); ok {
			ids, asked[job] = append(ids, job), append(asked[job], task)
		}
	}
	if len(ids) == 0 {
		return out, nil
	}
	found, err := d.desk.operator.Locate(ctx, ids...)
	for _, k := range found {
		for _, task := range asked[k.ID] {
			out[task] = k
		}
	}
	return out, err
}

// stray takes a task away that no job stands behind, whatever was asked for it.
func (d *dashboard) stray(name, task string) error {
	err := d.inspect.DeleteTask(name, task)
	if errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) {
		return errNoTask
	}
	if err != nil && strings.Contains(err.Error(), "active") {
		return &opsError{http.StatusConflict, "a worker has this task, and will find that it has no job"}
	}
	return err
}

// tidy takes the clicked task away where it still says what is no longer so: it had been left behind under an older
// name of its job, or asynq was not told. Where the job needs it, the relay brings another.
func (d *dashboard) tidy(w wish, task string) {
	info, err := d.inspect.GetTaskInfo(w.queue, task)
	if err != nil {
		return
	}
	outdated := map[string][]asynq.TaskState{
		"run":     {asynq.TaskStateArchived, asynq.TaskStateRetry, asynq.TaskStateScheduled, asynq.TaskStateCompleted},
		"archive": {asynq.TaskStatePending, asynq.TaskStateRetry, asynq.TaskStateScheduled, asynq.TaskStateCompleted},
		"delete":  {asynq.TaskStatePending, asynq.TaskStateRetry, asynq.TaskStateScheduled, asynq.TaskStateCompleted, asynq.TaskStateArchived},
	}
	if slices.Contains(outdated[w.verb], info.State) {
		_ = d.inspect.DeleteTask(w.queue, task)
	}
}

// listed is every task of a list, read page by page until a round finds none that is new: the list moves while it
// is read.
func (d *dashboard) listed(w wish) ([]string, error) {
	list := map[string]func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error){
		"pending": d.inspect.ListPendingTasks, "scheduled": d.inspect.ListScheduledTasks, "retry": d.inspect.ListRetryTasks,
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
					seen[t.ID], found = true, true
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
