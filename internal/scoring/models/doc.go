// Package models keeps the scoring models that orgs have learned from their own deals: the examples to learn from, the versions,
// and which of them scores.
//
// # From deals to examples
//
// An example is a deal with a contact. What was known is the snapshot that the database takes when the deal is made, so that
// nothing that is written later can teach. Won is won; lost is not, and neither is a deal that is still open
// after 90 days; a younger one is no example yet. What was edited within 24 hours of the
// outcome, and not set when the contact was made, is told to the learner, who may quarantine it.
//
// # Promotion
//
// A new version scores only if, on outcomes that came later than all that it had learned from, its log loss is not above that
// of the version in use. Versions are kept, and an org may go back to any of them, the shipped prior included.
//
// # Who scores with what
//
// Book answers the model of an org from memory and looks at the database at most once a second per org, so that every process
// scores with a new version within about a second. Without the database it goes on with what it knows.
package models
