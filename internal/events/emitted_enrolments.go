package events

import "github.com/funnelwork/funnelwork/internal/id"

// The live events of enrolments; see emitted.go.

// SequenceEnrolled is the event sequence.enrolled, announced once per enrolment.
type SequenceEnrolled struct{ Enrolment Enrolment }

// Type returns the event type.
func (SequenceEnrolled) Type() string { return "sequence.enrolled" }

// Data returns the enrolment.
func (e SequenceEnrolled) Data() (object, previous any) { return e.Enrolment, nil }

// Concerns returns the contact.
func (e SequenceEnrolled) Concerns() []id.ID { return []id.ID{e.Enrolment.ContactID} }

// SequenceStepCompleted is the event sequence.step_completed, announced once per enrolment and step.
type SequenceStepCompleted struct{ Enrolment Enrolment }

// Type returns the event type.
func (SequenceStepCompleted) Type() string { return "sequence.step_completed" }

// Data returns the enrolment.
func (e SequenceStepCompleted) Data() (object, previous any) { return e.Enrolment, nil }

// Concerns returns the contact.
func (e SequenceStepCompleted) Concerns() []id.ID { return []id.ID{e.Enrolment.ContactID} }

// SequenceStepReached is the event sequence.step_reached, which SendTo delivers to one endpoint.
type SequenceStepReached struct{ Enrolment Enrolment }

// Type returns the event type.
func (SequenceStepReached) Type() string { return "sequence.step_reached" }

// Data returns the enrolment.
func (e SequenceStepReached) Data() (object, previous any) { return e.Enrolment, nil }

// Concerns returns the contact.
func (e SequenceStepReached) Concerns() []id.ID { return []id.ID{e.Enrolment.ContactID} }

// SequenceReplied is the event sequence.replied.
type SequenceReplied struct{ Enrolment Enrolment }

// Type returns the event type.
func (SequenceReplied) Type() string { return "sequence.replied" }

// Data returns the enrolment.
func (e SequenceReplied) Data() (object, previous any) { return e.Enrolment, nil }

// Concerns returns the contact.
func (e SequenceReplied) Concerns() []id.ID { return []id.ID{e.Enrolment.ContactID} }

// SequenceFinished is the event sequence.finished: the last step is done, or the goal is reached.
type SequenceFinished struct{ Enrolment Enrolment }

// Type returns the event type.
func (SequenceFinished) Type() string { return "sequence.finished" }

// Data returns the enrolment.
func (e SequenceFinished) Data() (object, previous any) { return e.Enrolment, nil }

// Concerns returns the contact.
func (e SequenceFinished) Concerns() []id.ID { return []id.ID{e.Enrolment.ContactID} }

// SequenceStopped is the event sequence.stopped: any other end.
type SequenceStopped struct{ Enrolment Enrolment }

// Type returns the event type.
func (SequenceStopped) Type() string { return "sequence.stopped" }

// Data returns the enrolment.
func (e SequenceStopped) Data() (object, previous any) { return e.Enrolment, nil }

// Concerns returns the contact.
func (e SequenceStopped) Concerns() []id.ID { return []id.ID{e.Enrolment.ContactID} }
