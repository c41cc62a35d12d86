package demo

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/activities"
	"github.com/funnelwork/funnelwork/internal/command/demo/plan"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// about returns the ids of the subjects of a note or a task.
func (f *filler) about(contact, deal int) (contactID, companyID, dealID *id.ID) {
	i := f.contact(contact)
	contactID = &i
	if company := f.plan.Contacts[contact].Company; company != plan.None {
		i := f.company(company)
		companyID = &i
	}
	if deal != plan.None {
		i := f.deal(deal)
		dealID = &i
	}
	return contactID, companyID, dealID
}

func (c *chunk) writeNotes(context.Context) error {
	var all []activities.Note
	for _, a := range c.by[plan.WriteNote] {
		of, at, author := &c.plan.Notes[a.Of], wire.At(a.At), c.owner(a.Of)
		n := activities.Note{
			ID: c.rowID(noteRow, a.Of, 0, a.At), Body: of.Body, AuthorID: &author, CreatedAt: at, UpdatedAt: at,
		}
		n.ContactID, n.CompanyID, n.DealID = c.about(of.Contact, of.Deal)
		all = append(all, n)
		ch := activities.NoteChange{Row: activities.NoteRow{Value: n, Edit: 1}}
		c.happened(a, c.user(a.Of), activities.NoteEvents(&ch))
	}
	activities.RecordNotes(c.tx, all)
	return nil
}

// taskOf returns the task as it was created.
func (f *filler) taskOf(i int) activities.Task {
	of, assignee := &f.plan.Tasks[i], f.owner(i)
	at, due := wire.At(of.At), wire.At(of.Due)
	t := activities.Task{
		ID: f.task(i), Title: of.Title, Status: "open", Priority: of.Priority, DueAt: &due, AssigneeID: &assignee,
		CreatedAt: at, UpdatedAt: at,
	}
	t.ContactID, t.CompanyID, t.DealID = f.about(of.Contact, of.Deal)
	return t
}

func (c *chunk) createTasks(context.Context) error {
	var all []activities.Task
	for _, a := range c.by[plan.CreateTask] {
		t := c.taskOf(a.Of)
		all = append(all, t)
		c.happened(a, c.user(a.Of), []events.Event{events.TaskCreated{Task: t}})
	}
	activities.RecordTasks(c.tx, all)
	return nil
}

func (c *chunk) completeTasks(context.Context) error {
	for _, a := range c.by[plan.CompleteTask] {
		t, at := c.taskOf(a.Of), wire.At(a.At)
		t.Status, t.CompletedAt, t.UpdatedAt = "done", &at, at
		activities.RecordCompletion(c.tx, t.ID, at)
		c.happened(a, c.user(a.Of), []events.Event{events.TaskCompleted{Task: t}})
	}
	return nil
}
