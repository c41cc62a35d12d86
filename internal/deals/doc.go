// Package deals stores an org's pipelines with their stages, and the deals that move through them.
//
// Every function runs inside the caller's transaction, which is bound to one org. The caller announces the events and
// enqueues follow-up jobs.
//
// # How status and stage are coupled
//
// The kind of a stage is open, won or lost, and a deal's status is the kind of its stage: a foreign key over both
// enforces it. Moving to a stage therefore determines the status, and setting the status moves the deal: to the first
// won or lost stage of its pipeline, or back to the last open stage that it was in, or to the pipeline's first open
// stage if that one no longer exists. A change that names both must be consistent. A change that names only a pipeline
// moves the deal to the first stage of that pipeline with the deal's status.
//
// # Once per entry
//
// A change locks the deal's row, and its events are derived from the previous row. Of fifty concurrent requests to win
// a deal, one finds it open; the others change nothing. A move between two won stages announces the move, but no second
// win. A move from won to lost announces the loss, but no reopening, because the deal is never open.
//
// # Pipelines
//
// A change to a pipeline locks all pipelines of the org in one order: there are few, and the rules for one depend on
// the others. A transaction that moves a deal into a pipeline holds a shared lock on the pipeline's row, which prevents
// archiving it concurrently.
package deals
