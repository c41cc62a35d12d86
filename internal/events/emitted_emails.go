package events

import "github.com/funnelwork/funnelwork/internal/id"

// EmailSent is the event email.sent, announced once for each email that is known to be sent.
type EmailSent struct{ Email Email }

// Type returns the event type.
func (EmailSent) Type() string { return "email.sent" }

// Data returns the email.
func (e EmailSent) Data() (object, previous any) { return e.Email, nil }

// Concerns returns the contact.
func (e EmailSent) Concerns() []id.ID { return e.Email.contactOf() }

// EmailFailed is the event email.failed.
type EmailFailed struct{ Email Email }

// Type returns the event type.
func (EmailFailed) Type() string { return "email.failed" }

// Data returns the email with the reason.
func (e EmailFailed) Data() (object, previous any) { return e.Email, nil }

// Concerns returns the contact.
func (e EmailFailed) Concerns() []id.ID { return e.Email.contactOf() }

// EmailUnknown is the event email.unknown.
type EmailUnknown struct{ Email Email }

// Type returns the event type.
func (EmailUnknown) Type() string { return "email.unknown" }

// Data returns the email with the reason.
func (e EmailUnknown) Data() (object, previous any) { return e.Email, nil }

// Concerns returns the contact.
func (e EmailUnknown) Concerns() []id.ID { return e.Email.contactOf() }

// EmailOpened is the event email.opened.
type EmailOpened struct{ Email Email }

// Type returns the event type.
func (EmailOpened) Type() string { return "email.opened" }

// Data returns the email, and whether a machine opened it.
func (e EmailOpened) Data() (object, previous any) { return e.Email, nil }

// Concerns returns the contact, who has not done what a machine did.
func (e EmailOpened) Concerns() []id.ID { return e.Email.byPerson() }

// EmailClicked is the event email.clicked.
type EmailClicked struct{ Email Email }

// Type returns the event type.
func (EmailClicked) Type() string { return "email.clicked" }

// Data returns the email with the link, and whether a machine followed it.
func (e EmailClicked) Data() (object, previous any) { return e.Email, nil }

// Concerns returns the contact, who has not done what a machine did.
func (e EmailClicked) Concerns() []id.ID { return e.Email.byPerson() }

func (e *Email) byPerson() []id.ID {
	if e.Machine {
		return nil
	}
	return e.contactOf()
}

func (e *Email) contactOf() []id.ID {
	if e.ContactID == nil {
		return nil
	}
	return []id.ID{*e.ContactID}
}
