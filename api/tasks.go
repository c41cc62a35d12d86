package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/activities"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

const tasksPath = "/api/v1/crm/tasks"

func (a *App) mountTasks() {
	r := records[activities.Task, activities.TaskPatch]{
		App: a, path: tasksPath, id: func(t *activities.Task) id.ID { return t.ID },
		create: activities.CreateTask, get: activities.GetTask, update: activities.UpdateTask,
		archive: activities.ArchiveTask, restore: activities.RestoreTask, resolve: a.resolveExternalID,
		announce: func(ctx context.Context, tx *postgres.Tx, ch *activities.TaskChange) error {
			if err := announceAll(ctx, tx, activities.TaskEvents(ch)); err != nil {
				return err
			}
			if ch.Value.CompletedAt == nil && ch.Value.ArchivedAt == nil || ch.Before.ID.IsZero() {
				return nil
			}
			return states.TaskDone(ctx, tx, ch.Value.ID) // a sequence may wait for it
		},
	}
	const tag = "Tasks"
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "tasks.create",
			Method: http.MethodPost, Path: tasksPath, Need: httpx.Member, Tag: tag, Title: "Create a task",
			Status: http.StatusCreated, Writes: []string{"task.created", "task.completed"},
		},
		createHandler(r, (*createTaskRequest).toPatch))
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "tasks.list",
			Method: http.MethodGet,
			Path:   tasksPath,
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "List tasks",
		},
		a.listTasks,
	)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "tasks.get",
			Method: http.MethodGet,
			Path:   tasksPath + "/{id}",
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "Get a task",
		},
		r.getRecord,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "tasks.update",
			Method: http.MethodPatch, Path: tasksPath + "/{id}", Need: httpx.Member, Tag: tag,
			Title: "Update or complete a task", Writes: []string{"task.completed"},
		},
		updateHandler(r, (*updateTaskRequest).toPatch))
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "tasks.archive",
			Method: http.MethodDelete, Path: tasksPath + "/{id}", Need: httpx.Member, Tag: tag, Title: "Archive a task",
			Status: http.StatusNoContent,
		}, r.archiveRecord)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "tasks.restore",
			Method: http.MethodPost, Path: tasksPath + "/{id}/restore", Need: httpx.Member, Tag: tag,
			Title: "Restore an archived task",
		}, r.restoreRecord)
}

// TaskFields are the members common to every task body.
type TaskFields struct {
	Description httpx.Optional[string] `json:"description" required:"false"`
	Status      httpx.Optional[string] `json:"status" required:"false" doc:"open or done; default open"`
	Priority    httpx.Optional[string] `json:"priority" required:"false" doc:"low, normal or high; default normal"`
	DueAt       httpx.Optional[string] `json:"due_at" required:"false"`
	AssigneeID  httpx.Optional[string] `json:"assignee_id" required:"false" doc:"ID of the user who is to do it"`
	SubjectFields
	CompletedAt httpx.RawJSON `json:"completed_at" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (TaskFields) Descriptions() map[string]string {
	return map[string]string{
		"description":  "Details, up to 10000 characters; null clears them",
		"external_ids": "Ids in other systems, by system; null removes",
		"due_at":       "When the task is due, RFC 3339; null: no deadline",
	}
}

func (f *TaskFields) toPatch(title httpx.Optional[string]) activities.TaskPatch {
	p := activities.TaskPatch{
		Title: title.Field, Description: f.Description.Field, Status: f.Status.Field, Priority: f.Priority.Field,
		DueAt:      f.DueAt.Field,
		AssigneeID: f.AssigneeID.Field, Subjects: f.subjects(), ExternalIDs: f.ExternalIDs.Field,
	}
	f.refuseReadOnly(p.Refuse)
	p.Refuse("completed_at", json.RawMessage(f.CompletedAt))
	return p
}

type createTaskRequest struct {
	Title httpx.Optional[string] `json:"title" doc:"What is to be done, 1 to 200 characters"`
	TaskFields
}

func (b *createTaskRequest) toPatch() activities.TaskPatch { return b.TaskFields.toPatch(b.Title) }

type updateTaskRequest struct {
	Title httpx.Optional[string] `json:"title" required:"false" doc:"What is to be done, 1 to 200 characters; not null"`
	TaskFields
}

func (b *updateTaskRequest) toPatch() activities.TaskPatch { return b.TaskFields.toPatch(b.Title) }

type taskQuery struct {
	httpx.Page
	CountQuery
	SubjectQuery
	AssigneeID string    `query:"assignee_id" format:"uuid" doc:"Only tasks of this user"`
	Status     string    `query:"status" enum:"open,done" doc:"Only open tasks, or only done ones"`
	DueAfter   time.Time `query:"due_after" doc:"Only tasks due after this time (RFC 3339), exclusive"`
	DueBefore  time.Time `query:"due_before" doc:"Only tasks due before this time (RFC 3339), exclusive"`
	Sort       string    `query:"sort" enum:"-created_at,created_at,due_at" default:"-created_at"`
	Archived   bool      `query:"archived" doc:"List archived tasks instead of live ones"`
}

// Descriptions implements wire.Describer.
func (taskQuery) Descriptions() map[string]string {
	return map[string]string{
		"sort": "Tasks without a due date come last",
	}
}

func (a *App) listTasks(ctx context.Context, in *taskQuery) (*recordList[activities.Task], error) {
	f := &activities.TaskFilter{
		Status: in.Status, DueAfter: timeOrNil(in.DueAfter), DueBefore: timeOrNil(in.DueBefore),
		Archived: in.Archived,
	}
	if err := in.readIDs(&f.Contact, &f.Company, &f.Deal); err != nil {
		return nil, err
	}

	var err error
	if f.ExternalID, err = externalIDParameter(in.ExternalID); err != nil {
		return nil, err
	}
	if f.Assignee, err = uuidParameter("assignee_id", in.AssigneeID); err != nil {
		return nil, err
	}

	return listHandler(ctx, a, in.Page, in.Count, listing[activities.Task]{
		rows: func(ctx context.Context, tx *postgres.Tx, after *record.Position, limit int) ([]activities.TaskRow,
			error,
		) {
			return activities.ListTasks(ctx, tx, f, in.Sort, after, limit)
		},
		position: func(r *activities.TaskRow) record.Position { return activities.TaskPosition(in.Sort, r) },
		count: func(ctx context.Context, tx *postgres.Tx) (int64, error) {
			return activities.CountTasks(ctx, tx, f)
		},
		estimate: func(ctx context.Context, tx *postgres.Tx) (int64, error) {
			return activities.EstimateTasks(ctx, tx, f)
		},
	})
}
