// Package ops is the listener for operators, which every role has: health, readiness, metrics, the job dashboard and
// the jobs themselves, the number of a worker's slots, and the check whether a TLS server may obtain a certificate. It
// never shares the public port.
//
// A change is taken as JSON alone, by the JSON routes and by the dashboard, whose page sends it so. The pages of the
// sandboxes have forms: what they change is made up, and the guard refuses pages of other origins there, too.
//
// A JSON route is declared once, with the types of its body and answer (routes.go). /openapi.json is made from these
// declarations, and the tests compare every answer that they get with it.
package ops
