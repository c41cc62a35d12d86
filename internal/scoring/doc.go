// Package scoring turns what is known of a contact into the probability that it becomes a customer, and says why.
//
// It does no I/O. A Model is a value: an intercept and one weight for each level of each feature, in log odds, so
// the score is additive and its reasons are exact. Every org starts with Prior; a model learned from the org's own
// outcomes is another value of the same type, stored as JSON.
//
// # Points
//
// The score S is 100 x probability, rounded to hundredths; the base B is the same for a contact of whom nothing is
// known. With z the log odds of the contact and b those of the base, every weight w becomes (S-B) x w/(z-b) points:
// the logistic curve between b and z is replaced by its chord. The slope of a chord is positive, so a reason that
// lifts the odds always has points above zero and the reverse, whatever the other reasons are. The points are then
// rounded to hundredths by largest remainder, so that base and reasons add up to S to the last digit.
package scoring
