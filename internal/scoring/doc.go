// Package scoring computes the probability that a contact becomes a customer, and the reasons for it.
//
// It does no I/O. A Model is a value: an intercept and one weight for each level of each feature, in log odds. The
// score is therefore additive and its reasons are exact. Every org starts with Prior. A model learned from the org's
// own outcomes has the same type and is stored as JSON.
//
// # Engagement
//
// Human clicks and replies count by age: each is 2^(-age / half-life), with half-lives of 7, 30 and 90 days, and their
// sums have levels. Opens do not count, and neither do clicks of machines. The sums are those of a moment. A score uses
// the sums that are stored with it, so it changes by a new fact or by a sum that has fallen to a lower level (Fades),
// and a contact is scored again then.
//
// # Points
//
// The score S is 100 x probability, rounded to hundredths. The base B is the score of a contact without any known
// features. With z the log odds of the contact and b those of the base, every weight w becomes (S-B) x w/(z-b) points:
// the chord between b and z replaces the logistic curve. The slope of a chord is positive, so a reason that raises the
// odds always has positive points and one that lowers them negative points, whatever the other reasons are. The points
// are then rounded to hundredths by largest remainder, so that base and reasons add up to exactly S.
package scoring
