// Package comparisons stops the variants of a step that lose, where the step asks for it (steps.Email.Auto).
//
// # When a variant is stopped
//
// Package significance has the rule: every variant has been sent to at least 200 contacts, the youngest one for at
// least a day, and one of them has the highest share of replies with a probability of at least 0.95. Then all other
// variants are stopped. The counts are those of the statistics, over all versions of the sequence. Variants that were
// stopped before take no part, so a version with a new variant compares it with the one that is left.
//
// # Where it is kept
//
// A row of variant_comparison has the stopped variants of a step, for all versions of its sequence: a variant with
// another text gets another key. Activating a version schedules the first check of its steps, and a check schedules the
// next one, until one variant is left. The transaction of a check has the row locked and skips rows that are locked, so
// that of several checks at the same time one decides. A check that is interrupted leaves nothing, and is due again.
//
// Enrolments that are due choose among the variants that are not stopped when their mail is written. A mail that was
// written keeps its variant.
package comparisons
