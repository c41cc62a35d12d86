// Package deals keeps what an org sells: its pipelines with their stages, and the deals that move through them.
//
// Every function works inside the caller's transaction, which is under one org; the caller announces the events and asks
// for what must happen next.
//
// # Status and stage are one thing
//
// A stage is of a kind, open, won or lost, and a deal's status is the kind of its stage: a foreign key over both says
// so. Moving to a stage therefore decides the status, and setting the status moves the deal: to the first won or lost
// stage of its pipeline, or back to the open stage that it was in last, the pipeline's first open one where that is gone.
// A change that names both has to mean the same. A pipeline named alone moves the deal to that pipeline's first stage
// of the status that it has.
//
// # Once per entry
//
// A change locks the deal's row and is told from what the row was. Of fifty requests to win one deal, one finds it open;
// the others find nothing to change. From one won stage to another it stays won: the move is told, a second win is not.
// From won to lost it is told as lost and not as reopened, because it is open at no moment.
//
// # Pipelines
//
// Whoever changes pipelines locks all of the org's, in one order: they are few, and what one of them may do depends on
// the others. Whoever brings a deal into a pipeline holds that pipeline's row shared, so that it is not archived
// meanwhile.
package deals
