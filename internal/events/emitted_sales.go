package events

import "github.com/funnelwork/funnelwork/internal/id"

// The live events of companies, deals, notes and tasks; see emitted.go.

// CompanyCreated is the event company.created.
type CompanyCreated struct{ Company Company }

// Type returns the event type.
func (CompanyCreated) Type() string { return "company.created" }

// Data returns the new company.
func (e CompanyCreated) Data() (object, previous any) { return e.Company, nil }

// CompanyUpdated is the event company.updated, at most one per company and request.
type CompanyUpdated struct {
	Company  Company
	Previous map[string]any
}

// Type returns the event type.
func (CompanyUpdated) Type() string { return "company.updated" }

// Data returns the company after the change, and the previous values of the changed fields.
func (e CompanyUpdated) Data() (object, previous any) { return e.Company, orNull(e.Previous) }

// CompanyArchived is the event company.archived.
type CompanyArchived struct{ Company Company }

// Type returns the event type.
func (CompanyArchived) Type() string { return "company.archived" }

// Data returns the company with its archived_at.
func (e CompanyArchived) Data() (object, previous any) { return e.Company, nil }

// CompanyRestored is the event company.restored.
type CompanyRestored struct{ Company Company }

// Type returns the event type.
func (CompanyRestored) Type() string { return "company.restored" }

// Data returns the company.
func (e CompanyRestored) Data() (object, previous any) { return e.Company, nil }

// DealCreated is the event deal.created.
type DealCreated struct{ Deal Deal }

// Type returns the event type.
func (DealCreated) Type() string { return "deal.created" }

// Data returns the new deal.
func (e DealCreated) Data() (object, previous any) { return e.Deal, nil }

// Concerns returns the deal's contact.
func (e DealCreated) Concerns() []id.ID { return contactSlice(e.Deal.ContactID) }

// DealUpdated is the event deal.updated: a change of fields other than the stage and the fields that follow from it.
type DealUpdated struct {
	Deal     Deal
	Previous map[string]any
}

// Type returns the event type.
func (DealUpdated) Type() string { return "deal.updated" }

// Data returns the deal after the change, and the previous values of the changed fields.
func (e DealUpdated) Data() (object, previous any) { return e.Deal, orNull(e.Previous) }

// Concerns returns the deal's current and previous contact.
func (e DealUpdated) Concerns() []id.ID { return bothContacts(e.Deal.ContactID, e.Previous) }

// DealStageChanged is the event deal.stage_changed. It precedes deal.won, deal.lost and deal.reopened.
type DealStageChanged struct {
	Deal     Deal
	Previous map[string]any
}

// Type returns the event type.
func (DealStageChanged) Type() string { return "deal.stage_changed" }

// Data returns the deal after the move, and its previous stage.
func (e DealStageChanged) Data() (object, previous any) { return e.Deal, orNull(e.Previous) }

// Concerns returns the deal's contact.
func (e DealStageChanged) Concerns() []id.ID { return contactSlice(e.Deal.ContactID) }

// DealWon is the event deal.won, announced each time a deal becomes won.
type DealWon struct{ Deal Deal }

// Type returns the event type.
func (DealWon) Type() string { return "deal.won" }

// Data returns the deal.
func (e DealWon) Data() (object, previous any) { return e.Deal, nil }

// Concerns returns the deal's contact.
func (e DealWon) Concerns() []id.ID { return contactSlice(e.Deal.ContactID) }

// DealLost is the event deal.lost, announced each time a deal becomes lost.
type DealLost struct{ Deal Deal }

// Type returns the event type.
func (DealLost) Type() string { return "deal.lost" }

// Data returns the deal with its reason.
func (e DealLost) Data() (object, previous any) { return e.Deal, nil }

// Concerns returns the deal's contact.
func (e DealLost) Concerns() []id.ID { return contactSlice(e.Deal.ContactID) }

// DealReopened is the event deal.reopened: a won or lost deal is open again.
type DealReopened struct{ Deal Deal }

// Type returns the event type.
func (DealReopened) Type() string { return "deal.reopened" }

// Data returns the deal.
func (e DealReopened) Data() (object, previous any) { return e.Deal, nil }

// Concerns returns the deal's contact.
func (e DealReopened) Concerns() []id.ID { return contactSlice(e.Deal.ContactID) }

// DealArchived is the event deal.archived.
type DealArchived struct{ Deal Deal }

// Type returns the event type.
func (DealArchived) Type() string { return "deal.archived" }

// Data returns the deal with its archived_at.
func (e DealArchived) Data() (object, previous any) { return e.Deal, nil }

// Concerns returns the deal's contact.
func (e DealArchived) Concerns() []id.ID { return contactSlice(e.Deal.ContactID) }

// DealRestored is the event deal.restored.
type DealRestored struct{ Deal Deal }

// Type returns the event type.
func (DealRestored) Type() string { return "deal.restored" }

// Data returns the deal.
func (e DealRestored) Data() (object, previous any) { return e.Deal, nil }

// Concerns returns the deal's contact.
func (e DealRestored) Concerns() []id.ID { return contactSlice(e.Deal.ContactID) }

// TaskCreated is the event task.created.
type TaskCreated struct{ Task Task }

// Type returns the event type.
func (TaskCreated) Type() string { return "task.created" }

// Data returns the new task.
func (e TaskCreated) Data() (object, previous any) { return e.Task, nil }

// Concerns returns the task's contact.
func (e TaskCreated) Concerns() []id.ID { return contactSlice(e.Task.ContactID) }

// TaskCompleted is the event task.completed, announced each time a task becomes done.
type TaskCompleted struct{ Task Task }

// Type returns the event type.
func (TaskCompleted) Type() string { return "task.completed" }

// Data returns the task.
func (e TaskCompleted) Data() (object, previous any) { return e.Task, nil }

// Concerns returns the task's contact.
func (e TaskCompleted) Concerns() []id.ID { return contactSlice(e.Task.ContactID) }

// ActivityLogged is the event activity.logged.
type ActivityLogged struct{ Activity Activity }

// Type returns the event type.
func (ActivityLogged) Type() string { return "activity.logged" }

// Data returns the note.
func (e ActivityLogged) Data() (object, previous any) { return e.Activity, nil }

// Concerns returns the note's contact.
func (e ActivityLogged) Concerns() []id.ID { return contactSlice(e.Activity.ContactID) }

// contactSlice returns the contact as a slice, empty if there is none.
func contactSlice(contact *id.ID) []id.ID {
	if contact == nil {
		return nil
	}
	return []id.ID{*contact}
}

// bothContacts returns the current and the previous contact.
func bothContacts(contact *id.ID, previous map[string]any) []id.ID {
	was, _ := previous["contact_id"].(*id.ID)
	return append(contactSlice(contact), contactSlice(was)...)
}
