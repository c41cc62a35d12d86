// Package tenants implements what operators see of orgs and do to them: lists, suspension, rights and usage. The ops
// listener and `funnelwork orgs` are its two front ends.
//
// # Suspension
//
// Suspend commits three things in one transaction: the mark on the org's row, which every API process reads with the
// caller's role (at most a second old) and which refuses the org's calls with org_suspended; the hold of the org's
// jobs, which each claim checks; and the entries in the logs. Runs that have started end by themselves; an email is not
// sent once the org is suspended, since its mark checks that, too. Everything waits in Postgres: webhook deliveries,
// emails, steps of sequences, imports. Resume makes emails that became due meanwhile due anew, so that none is too
// late, and ends the hold.
//
// What still works: signing in and out and switching to another org; what people outside do, such as unsubscribing,
// answering and clicking; and webhooks of providers, which are stored. Their jobs wait, too.
package tenants
