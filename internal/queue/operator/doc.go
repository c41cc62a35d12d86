// Package operator implements what operators do to jobs. The dashboard, the paths below /jobs/ and `funnelwork jobs`
// use it.
//
// Postgres changes first, with the audit in the same transaction. The changes to asynq follow the commit, best effort,
// because the relay adds missing tasks. Actions therefore work while Redis is down.
//
// # Layout
//
// act.go has T12 to T14, run now, archive and drop, and asynq.go repeats them in asynq. search.go, show.go, query.go
// and filter.go find jobs. redrive.go and drop_matching.go act on all jobs that match a filter. pause.go and weight.go
// have the settings that the feeder and the claims read. audit.go has the audit log.
package operator
