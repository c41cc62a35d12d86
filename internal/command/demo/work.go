package demo

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/activities"
	"github.com/funnelwork/funnelwork/internal/command/demo/plan"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// subjectIDs returns the ids of the subjects of a note or a task.
func (f *filler) subjectIDs(contact, deal int) (contactID, companyID, dealID *id.ID) {
	i := f.contactID(contact)
	contactID = &i
	if company := f.plan.Contacts[contact].Company; company != plan.None {
		i := f.companyID(company)
		companyID = &i
	}
	if deal != plan.None {
		i := f.dealID(deal)
		dealID = &i
	}

	return contactID, companyID, dealID
}

func (c *chunk) writeNotes(context.Context) error {
	var all []activities.Note
	for _, a := range c.by[plan.WriteNote] {
		of := &c.plan.Notes[a.Of]
		at := wire.At(a.At)
		author := c.ownerID(a.Of)
		n := activities.Note{
			ID: c.rowID(noteRow, a.Of, 0, a.At), Body: of.Body, AuthorID: &author, CreatedAt: at, UpdatedAt: at,
		}
		n.ContactID, n.CompanyID, n.DealID = c.subjectIDs(of.Contact, of.Deal)
		all = append(all, n)
		ch := activities.NoteChange{Row: activities.NoteRow{Value: n, Edit: 1}}
		c.addEvents(a, c.userOrigin(a.Of), activities.NoteEvents(&ch))
	}

	activities.RecordNotes(c.tx, all)

	return nil
}

// taskOf returns the task as it was created.
func (f *filler) taskOf(i int) activities.Task {
	of := &f.plan.Tasks[i]
	assignee := f.ownerID(i)
	at := wire.At(of.At)
	due := wire.At(of.Due)
	t := activities.Task{
		ID: f.taskID(i), Title: of.Title, Status: "open", Priority: of.Priority, DueAt: &due, AssigneeID: &assignee,
		CreatedAt: at, UpdatedAt: at,
	}
	t.ContactID, t.CompanyID, t.DealID = f.subjectIDs(of.Contact, of.Deal)

	return t
}

func (c *chunk) createTasks(context.Context) error {
	var all []activities.Task
	for _, a := range c.by[plan.CreateTask] {
		t := c.taskOf(a.Of)
		all = append(all, t)
		c.addEvents(a, c.userOrigin(a.Of), []events.Event{events.TaskCreated{Task: t}})
	}

	activities.RecordTasks(c.tx, all)
	return nil
}

func (c *chunk) completeTasks(context.Context) error {
	for _, a := range c.by[plan.CompleteTask] {
		t := c.taskOf(a.Of)
		at := wire.At(a.At)
		t.Status = "done"
		t.CompletedAt = &at
		t.UpdatedAt = at
		activities.RecordCompletion(c.tx, t.ID, at)
		c.addEvents(a, c.userOrigin(a.Of), []events.Event{events.TaskCompleted{Task: t}})
	}

	return nil
}
