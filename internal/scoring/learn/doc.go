// Package learn makes a scoring.Model from an org's own outcomes. It does no I/O.
//
// # The model
//
// A logistic regression over levels: each of the contact's own features and each custom field is a column of levels, an
// example has one level of each (of tags any number), and each level has a weight in log odds. Texts keep their frequent values
// as levels and pool the rest; numbers and dates are cut into bins of about equal size; not having a field is a level, too.
// What is additive in log odds has exact reasons.
//
// # The prior
//
// Weights have a Gaussian prior around the shipped model's, in which custom fields weigh nothing. How firmly a
// column is held there is found from the data (precision.go), so that the prior fades as outcomes grow, sooner where a
// column tells more. Bins of a number are held near their neighbours.
//
// # What is said of it
//
// The slope of the calibration comes from foretelling each fifth of the outcomes by the other four. What the report shows is
// harder: the later half of the outcomes, foretold in five steps from what lay before each.
//
// Below 250 outcomes the model in use is met on all of them, each tenth foretold by the other nine, and the shipped model
// is left unless it is better by more than the standard error of the difference: half of 30 outcomes would decide by chance.
//
// Nothing is drawn at random: the same examples make the same model.
package learn
