//go:build race

package stripe_test

// slower is by how much fewer random worlds are tried under the race detector, where each takes about ten times as long.
const slower = 10
