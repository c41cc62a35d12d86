//go:build !race

package stripe_test

const slower = 1
