package events

import "github.com/funnelwork/funnelwork/internal/id"

// The live events of companies, deals, notes and tasks; see emitted.go.

// CompanyCreated is company.created.
type CompanyCreated struct{ Company Company }

// Type is the name on the wire.
func (CompanyCreated) Type() string { return "company.created" }

// Data is the new company.
func (e CompanyCreated) Data() (object, previous any) { return e.Company, nil }

// CompanyUpdated is company.updated, at most one per company and request.
type CompanyUpdated struct {
	Company  Company
	Previous map[string]any
}

// Type is the name on the wire.
func (CompanyUpdated) Type() string { return "company.updated" }

// Data is the company after the change and what changed.
func (e CompanyUpdated) Data() (object, previous any) { return e.Company, fields(e.Previous) }

// CompanyArchived is company.archived.
type CompanyArchived struct{ Company Company }

// Type is the name on the wire.
func (CompanyArchived) Type() string { return "company.archived" }

// Data is the company with its archived_at.
func (e CompanyArchived) Data() (object, previous any) { return e.Company, nil }

// CompanyRestored is company.restored.
type CompanyRestored struct{ Company Company }

// Type is the name on the wire.
func (CompanyRestored) Type() string { return "company.restored" }

// Data is the company, live again.
func (e CompanyRestored) Data() (object, previous any) { return e.Company, nil }

// DealCreated is deal.created.
type DealCreated struct{ Deal Deal }

// Type is the name on the wire.
func (DealCreated) Type() string { return "deal.created" }

// Data is the new deal.
func (e DealCreated) Data() (object, previous any) { return e.Deal, nil }

// Concerns is the deal's contact.
func (e DealCreated) Concerns() []id.ID { return one(e.Deal.ContactID) }

// DealUpdated is deal.updated: fields other than its stage and what follows from it.
type DealUpdated struct {
	Deal     Deal
	Previous map[string]any
}

// Type is the name on the wire.
func (DealUpdated) Type() string { return "deal.updated" }

// Data is the deal after the change and what changed.
func (e DealUpdated) Data() (object, previous any) { return e.Deal, fields(e.Previous) }

// Concerns is the deal's contact, and the one that it was taken from.
func (e DealUpdated) Concerns() []id.ID { return concerned(e.Deal.ContactID, e.Previous) }

// DealStageChanged is deal.stage_changed; it comes before won, lost and reopened.
type DealStageChanged struct {
	Deal     Deal
	Previous map[string]any
}

// Type is the name on the wire.
func (DealStageChanged) Type() string { return "deal.stage_changed" }

// Data is the deal after the move, and where it was.
func (e DealStageChanged) Data() (object, previous any) { return e.Deal, fields(e.Previous) }

// Concerns is the deal's contact.
func (e DealStageChanged) Concerns() []id.ID { return one(e.Deal.ContactID) }

// DealWon is deal.won: once for each time that a deal becomes won.
type DealWon struct{ Deal Deal }

// Type is the name on the wire.
func (DealWon) Type() string { return "deal.won" }

// Data is the deal.
func (e DealWon) Data() (object, previous any) { return e.Deal, nil }

// Concerns is the deal's contact.
func (e DealWon) Concerns() []id.ID { return one(e.Deal.ContactID) }

// DealLost is deal.lost: once for each time that a deal becomes lost.
type DealLost struct{ Deal Deal }

// Type is the name on the wire.
func (DealLost) Type() string { return "deal.lost" }

// Data is the deal with its reason.
func (e DealLost) Data() (object, previous any) { return e.Deal, nil }

// Concerns is the deal's contact.
func (e DealLost) Concerns() []id.ID { return one(e.Deal.ContactID) }

// DealReopened is deal.reopened: a won or lost deal is open again.
type DealReopened struct{ Deal Deal }

// Type is the name on the wire.
func (DealReopened) Type() string { return "deal.reopened" }

// Data is the deal.
func (e DealReopened) Data() (object, previous any) { return e.Deal, nil }

// Concerns is the deal's contact.
func (e DealReopened) Concerns() []id.ID { return one(e.Deal.ContactID) }

// DealArchived is deal.archived.
type DealArchived struct{ Deal Deal }

// Type is the name on the wire.
func (DealArchived) Type() string { return "deal.archived" }

// Data is the deal with its archived_at.
func (e DealArchived) Data() (object, previous any) { return e.Deal, nil }

// Concerns is the deal's contact.
func (e DealArchived) Concerns() []id.ID { return one(e.Deal.ContactID) }

// DealRestored is deal.restored.
type DealRestored struct{ Deal Deal }

// Type is the name on the wire.
func (DealRestored) Type() string { return "deal.restored" }

// Data is the deal, live again.
func (e DealRestored) Data() (object, previous any) { return e.Deal, nil }

// Concerns is the deal's contact.
func (e DealRestored) Concerns() []id.ID { return one(e.Deal.ContactID) }

// TaskCreated is task.created.
type TaskCreated struct{ Task Task }

// Type is the name on the wire.
func (TaskCreated) Type() string { return "task.created" }

// Data is the new task.
func (e TaskCreated) Data() (object, previous any) { return e.Task, nil }

// Concerns is the task's contact.
func (e TaskCreated) Concerns() []id.ID { return one(e.Task.ContactID) }

// TaskCompleted is task.completed: once for each time that a task becomes done.
type TaskCompleted struct{ Task Task }

// Type is the name on the wire.
func (TaskCompleted) Type() string { return "task.completed" }

// Data is the task.
func (e TaskCompleted) Data() (object, previous any) { return e.Task, nil }

// Concerns is the task's contact.
func (e TaskCompleted) Concerns() []id.ID { return one(e.Task.ContactID) }

// ActivityLogged is activity.logged.
type ActivityLogged struct{ Activity Activity }

// Type is the name on the wire.
func (ActivityLogged) Type() string { return "activity.logged" }

// Data is the note.
func (e ActivityLogged) Data() (object, previous any) { return e.Activity, nil }

// Concerns is the note's contact.
func (e ActivityLogged) Concerns() []id.ID { return one(e.Activity.ContactID) }

// one is the contact, if there is one.
func one(contact *id.ID) []id.ID {
	if contact == nil {
		return nil
	}
	return []id.ID{*contact}
}

// concerned is the contact, and the one that was it before.
func concerned(contact *id.ID, previous map[string]any) []id.ID {
	was, _ := previous["contact_id"].(*id.ID)
	return append(one(contact), one(was)...)
}
