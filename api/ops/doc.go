// Package ops is the listener for operators, which every role has: health, readiness, metrics, the job dashboard and
// the jobs themselves, the number of a worker's slots, and the check whether a TLS server may obtain a certificate. It
// never shares the public port.
package ops
