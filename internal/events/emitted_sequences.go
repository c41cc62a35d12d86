package events

// SequenceActivated is the event sequence.activated.
type SequenceActivated struct{ Sequence Sequence }

// Type returns the event type.
func (SequenceActivated) Type() string { return "sequence.activated" }

// Data returns the sequence.
func (e SequenceActivated) Data() (object, previous any) { return e.Sequence, nil }

// SequencePaused is the event sequence.paused.
type SequencePaused struct{ Sequence Sequence }

// Type returns the event type.
func (SequencePaused) Type() string { return "sequence.paused" }

// Data returns the sequence with the reason.
func (e SequencePaused) Data() (object, previous any) { return e.Sequence, nil }
