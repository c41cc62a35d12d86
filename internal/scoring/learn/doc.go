// Package learn trains a scoring.Model on an org's own outcomes. It does no I/O.
//
// # The model
//
// The model is a logistic regression over levels. Each built-in feature and each custom field is a column of levels. An
// example has one level of each column (any number of tags), and each level has a weight in log odds. Texts keep their
// frequent values as levels and pool the rest. Numbers and dates are divided into bins of about equal count. A missing
// field is a level, too. A model that is additive in log odds has exact reasons.
//
// # The prior
//
// Weights have a Gaussian prior around the shipped model's weights, in which custom fields weigh nothing. The precision
// of a column is estimated from the data (precision.go), so that the prior fades as outcomes grow, and sooner for
// informative columns. Bins of a number are tied to a line through the values and to adjacent bins (ordered.go).
//
// # Evaluation
//
// The calibration slope is fitted to five-fold cross-validated predictions. The report shows a harder test: predictions
// of the later half of the outcomes, in five steps, each from the outcomes before it.
//
// Below 250 outcomes the new model is compared with the model in use on all outcomes, by ten-fold cross-validation. The
// shipped model is then replaced unless it is better by more than the standard error of the difference. Half of 30
// outcomes would decide by chance.
//
// Training is deterministic: the same examples give the same model.
package learn
