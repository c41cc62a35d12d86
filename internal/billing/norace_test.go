//go:build !race

package billing_test

const slower = 1
