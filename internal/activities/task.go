package activities

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Task is a to-do item, as the API and the webhooks show it.
type Task = events.Task

// Statuses of tasks, and the default priority.
const (
	open   = "open"
	done   = "done"
	normal = "normal"
)

// TaskRow is a task with its edit counter.
type TaskRow = record.Row[Task]

// TaskChange is the result of a change to a task.
type TaskChange = record.Change[Task]

var tasks = record.Table[Task]{
	Name: "task", Absent: "There is no such task.",
	Columns: "id, title, description, status, priority, due_at, assignee_id, contact_id, company_id, deal_id, " +
		"external_ids, completed_at, created_at, updated_at, archived_at",
	Scan: func(t *Task) []any {
		return []any{
			&t.ID, &t.Title, &t.Description, &t.Status, &t.Priority, &t.DueAt, &t.AssigneeID, &t.ContactID,
			&t.CompanyID, &t.DealID,
			&t.ExternalIDs, &t.CompletedAt, &t.CreatedAt, &t.UpdatedAt, &t.ArchivedAt,
		}
	},
	Stamps: func(t *Task) (*wire.Time, **wire.Time) { return &t.UpdatedAt, &t.ArchivedAt },
}

const maxDescription = 10_000

// TaskPatch is a merge patch (RFC 7396) of a task. It is also the body of a create request.
type TaskPatch struct {
	Title       wire.Field[string]
	Description wire.Field[string]
	Status      wire.Field[string]
	Priority    wire.Field[string]
	DueAt       wire.Field[string]
	AssigneeID  wire.Field[string]
	ExternalIDs externalid.Patch
	Subjects
	form.Refused
}

func (p *TaskPatch) applyMembers(f *form.Form, t *Task, live there) {
	f.Required("title", p.Title, &t.Title, form.Name)
	f.OptionalText("description", p.Description, &t.Description, maxDescription)
	f.OneOf("priority", p.Priority, &t.Priority, "low", normal, "high")
	f.Time("due_at", p.DueAt, &t.DueAt)
	f.ID("assignee_id", p.AssigneeID, &t.AssigneeID)
	t.ExternalIDs = externalid.Apply(p.ExternalIDs, t.ExternalIDs, f.Wrong)
	p.Subjects.applySubjects(f, about{&t.ContactID, &t.CompanyID, &t.DealID}, live)
	f.OneOf("status", p.Status, &t.Status, open, done)
	switch {
	case t.Status == open:
		t.CompletedAt = nil
	case t.CompletedAt == nil:
		now := wire.Now()
		t.CompletedAt = &now
	}
}

// CreateTask creates a task from p. An invalid p is a validation fault.
func CreateTask(ctx context.Context, tx *postgres.Tx, p *TaskPatch) (TaskRow, error) {
	live, err := p.findLive(ctx, tx)
	if err != nil {
		return TaskRow{}, err
	}
	f, now := form.At(""), wire.Now()
	t := Task{ID: id.New(), Status: open, Priority: normal, CreatedAt: now, UpdatedAt: now}
	f.ReadOnly(p.Sent, &t)
	form.Missing(f, "title", p.Title)
	if p.applyMembers(f, &t, live); !f.OK() {
		return TaskRow{}, f.Fault()
	}
	externalid.Refuse(tx.Queue(`INSERT INTO task (org_id, id, title, description, status, priority, due_at,
		assignee_id, contact_id, company_id, deal_id, completed_at, created_at, updated_at, external_ids)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14)`,
		tx.Org(), t.ID, t.Title, t.Description, t.Status, t.Priority, t.DueAt, t.AssigneeID, t.ContactID, t.CompanyID,
		t.DealID, t.CompletedAt, now, t.ExternalIDs.Text()), externalid.Task, t.ExternalIDs)
	return TaskRow{Value: t, Edit: 1}, nil
}

// GetTask returns one task of the org. An archived task is returned only with archivedToo. If there is no such task,
// the error is a not_found fault.
func GetTask(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (TaskRow, error) {
	return tasks.Get(ctx, tx, i, archivedToo)
}

// UpdateTask applies p to the live task i; see record.Table.Update.
func UpdateTask(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match, p *TaskPatch) (TaskChange, error) {
	ch, err := tasks.Update(ctx, tx, i, match, func(was, now *Task) error {
		live, err := p.findLive(ctx, tx)
		if err != nil {
			return err
		}
		f := form.At("")
		f.ReadOnly(p.Sent, was)
		p.applyMembers(f, now, live)
		return f.Fault()
	})
	if t := &ch.Value; err == nil && ch.Changed() {
		externalid.Refuse(tx.Queue(`UPDATE task SET title = $3, description = $4, status = $5, priority = $6,
			due_at = $7,
			assignee_id = $8, contact_id = $9, company_id = $10,
				deal_id = $11, completed_at = $12, updated_at = $13, external_ids = $14,
				edit = edit + 1 WHERE org_id = $1 AND id = $2`,
			tx.Org(), t.ID, t.Title, t.Description, t.Status, t.Priority, t.DueAt, t.AssigneeID, t.ContactID,
			t.CompanyID, t.DealID, t.CompletedAt, t.UpdatedAt, t.ExternalIDs.Text()), externalid.Task, t.ExternalIDs)
	}
	return ch, err
}

// ArchiveTask hides the task; see record.Table.Archive.
func ArchiveTask(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match) (TaskChange, error) {
	return tasks.Archive(ctx, tx, i, match)
}

// RestoreTask undoes ArchiveTask.
func RestoreTask(ctx context.Context, tx *postgres.Tx, i id.ID) (TaskChange, error) {
	ch, q, err := tasks.Restore(ctx, tx, i)
	if q != nil {
		externalid.Refuse(q, externalid.Task, ch.Value.ExternalIDs)
	}
	return ch, err
}

// TaskEvents returns the events of a change. A task is announced when it is created and when it is completed.
func TaskEvents(ch *TaskChange) (told []events.Event) {
	if ch.Before.ID.IsZero() {
		told = append(told, events.TaskCreated{Task: ch.Value})
	}
	if ch.Value.Status == done && ch.Before.Status != done {
		told = append(told, events.TaskCompleted{Task: ch.Value})
	}
	return told
}

// TaskFilter selects the tasks of a list. The zero TaskFilter selects every live task.
type TaskFilter struct {
	Contact, Company, Deal, Assignee *id.ID
	ExternalID                       *externalid.Key
	Status                           string
	DueAfter, DueBefore              *time.Time // exclusive
	Archived                         bool       // select archived tasks instead of live ones
}

var taskOrders = map[string]record.Order[Task]{
	"-created_at": {Column: "created_at", Type: "timestamptz", Down: true, Key: func(t *Task) string {
		return keyOf(t.CreatedAt)
	}},
	"created_at": {Column: "created_at", Type: "timestamptz", Key: func(t *Task) string { return keyOf(t.CreatedAt) }},
	"due_at": {Column: "due_order", Type: "timestamptz", Key: func(t *Task) string {
		if t.DueAt == nil {
			return "infinity"
		}
		return keyOf(*t.DueAt)
	}},
}

func (f *TaskFilter) buildQuery(org id.ID) *record.Query {
	q := record.Where(org, f.Archived)
	q.Is("contact_id", f.Contact)
	q.Is("company_id", f.Company)
	q.Is("deal_id", f.Deal)
	q.Is("assignee_id", f.Assignee)
	q.HasExternalID(externalid.Task, f.ExternalID)
	if f.Status != "" {
		q.And("status = " + q.Arg(f.Status))
	}
	if f.DueAfter != nil {
		q.And("due_order > " + q.Arg(*f.DueAfter) + " AND due_order < 'infinity'")
	}
	if f.DueBefore != nil {
		q.And("due_order < " + q.Arg(*f.DueBefore))
	}
	return q
}

// ListTasks returns at most limit tasks selected by f in an order (-created_at, created_at, due_at), starting after a
// position, or at the beginning if after is nil.
func ListTasks(ctx context.Context, tx *postgres.Tx, f *TaskFilter, order string, after *record.Position,
	limit int,
) ([]TaskRow, error) {
	return tasks.List(ctx, tx, f.buildQuery(tx.Org()), taskOrders[order], after, limit)
}

// TaskPosition returns the position of a task in an order.
func TaskPosition(order string, r *TaskRow) record.Position {
	o := taskOrders[order]
	return o.Position(&r.Value, r.Value.ID)
}

// CountTasks returns the exact number of tasks that f selects.
func CountTasks(ctx context.Context, tx *postgres.Tx, f *TaskFilter) (int64, error) {
	return tasks.Count(ctx, tx, f.buildQuery(tx.Org()))
}

// EstimateTasks returns the number of tasks that f selects: exact up to 1,000, above that the planner's estimate.
func EstimateTasks(ctx context.Context, tx *postgres.Tx, f *TaskFilter) (int64, error) {
	return tasks.Estimate(ctx, tx, f.buildQuery(tx.Org()))
}
