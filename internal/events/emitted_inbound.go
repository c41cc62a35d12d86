package events

import "github.com/funnelwork/funnelwork/internal/id"

// EmailDelivered is the event email.delivered.
type EmailDelivered struct{ Email Email }

// Type returns the event type.
func (EmailDelivered) Type() string { return "email.delivered" }

// Data returns the email.
func (e EmailDelivered) Data() (object, previous any) { return e.Email, nil }

// Concerns returns the contact.
func (e EmailDelivered) Concerns() []id.ID { return e.Email.contactOf() }

// EmailBounced is the event email.bounced.
type EmailBounced struct{ Email Email }

// Type returns the event type.
func (EmailBounced) Type() string { return "email.bounced" }

// Data returns the email.
func (e EmailBounced) Data() (object, previous any) { return e.Email, nil }

// Concerns returns the contact.
func (e EmailBounced) Concerns() []id.ID { return e.Email.contactOf() }

// EmailComplained is the event email.complained.
type EmailComplained struct{ Email Email }

// Type returns the event type.
func (EmailComplained) Type() string { return "email.complained" }

// Data returns the email.
func (e EmailComplained) Data() (object, previous any) { return e.Email, nil }

// Concerns returns the contact.
func (e EmailComplained) Concerns() []id.ID { return e.Email.contactOf() }

// EmailReplied is the event email.replied.
type EmailReplied struct{ Email Email }

// Type returns the event type.
func (EmailReplied) Type() string { return "email.replied" }

// Data returns the email.
func (e EmailReplied) Data() (object, previous any) { return e.Email, nil }

// Concerns returns the contact.
func (e EmailReplied) Concerns() []id.ID { return e.Email.contactOf() }

// EmailReceived is the event email.received.
type EmailReceived struct{ Email Email }

// Type returns the event type.
func (EmailReceived) Type() string { return "email.received" }

// Data returns the email.
func (e EmailReceived) Data() (object, previous any) { return e.Email, nil }

// Concerns returns the contact.
func (e EmailReceived) Concerns() []id.ID { return e.Email.contactOf() }
