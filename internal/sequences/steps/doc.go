// Package steps has the steps of a sequence: their form, the rules they must keep, and the order in which they run.
//
// The steps of a version are a list. An enrolment runs a step once its delay has passed since the step before, and
// goes on with the next one of the list. A condition may go on with another step, or end the enrolment: its targets are
// keys of steps, or End. No path through the list comes back to a step.
//
// # Keys
//
// A key identifies a step in every version of its sequence. No enrolment runs two steps with the same key, so it can be
// moved to another version without running a step again.
//
// # Conditions
//
// The filter of a condition names fields of the contact and the facts about the enrolment's mails: replied, clicked,
// clicked_link and bounced. Opens are no condition, since mail programs load pictures on their own.
package steps
