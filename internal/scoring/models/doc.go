// Package models stores the scoring models that orgs have learned from their own deals: the training examples, the
// model versions, and the version in use.
//
// # From deals to examples
//
// An example is a deal with a contact. Its features come from the snapshot that the database takes when the deal is
// created, so that later writes cannot leak into it. A won deal is a positive example. A lost deal is a negative one,
// and so is a deal that is still open after 90 days; a younger open deal is not an example yet. Features that were
// edited within 24 hours of the outcome, and not set at the creation of the contact, are reported to the learner, which
// may quarantine them. Clicks and replies are in the snapshot if they came before the deal and were known at its
// creation; those within 24 hours of the outcome are reported like edits.
//
// # Promotion
//
// A new version is used only if its log loss does not exceed that of the version in use, on outcomes later than those
// it learned from. All versions are stored, and an org may return to any of them, including the shipped prior.
//
// # Which model scores
//
// Book caches the model of each org and checks the database at most once per second and org, so every process uses a
// new version within about a second. If the database is unavailable, it uses the cached model.
//
// A transaction that creates contacts confirms the model with the database (Confirm), so the score of a new contact is
// that of the model in use, and no job scores the contact again.
package models
