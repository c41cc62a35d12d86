// Package sequences keeps the definitions of sequences: automated outreach in steps.
//
// # Versions
//
// A sequence has a name, a status and numbered versions. A version has everything else: the steps, the mailboxes, the
// schedule and the rules of stopping. At most one version is a draft, always the last one; a change of an active
// sequence creates it as a copy of the active version. Activate freezes the draft. From then on the version never
// changes: enrolments keep the version that they began with, unless they are moved.
//
// # States
//
//	draft     was never activated
//	active    contacts can be enrolled, and enrolments go on
//	paused    enrolments wait; new ones wait too
//	archived  ended for good, with its enrolments
//
// An archived sequence is still listed. Delete archives a sequence and hides it; Restore undoes only the hiding.
//
// # What the caller checks
//
// This package knows no contacts, so a Ground has the checks of filters and of values of contacts.
package sequences
