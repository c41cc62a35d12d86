//go:build race

package stripe_test

// slower divides the number of random worlds under the race detector, where each takes about ten times as long.
const slower = 10
