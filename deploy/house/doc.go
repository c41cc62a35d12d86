// Command house prints figures about how the product's Go is written: `go run ./deploy/house` from the root of the
// project. Its test holds them to the bounds in bounds.go, so that none gets worse unnoticed.
//
// The product is every Go file but tests, and what deploy has. Generated files do not count.
package main
