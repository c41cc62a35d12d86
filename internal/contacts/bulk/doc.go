// Package bulk changes all contacts that a filter selects: what was asked for, and one step of doing it.
//
// # Each contact once
//
// Whom a change is about is decided at its start: one statement writes the ids of all that match into narrow rows, a
// few hundred to a row. So it does not matter that an action changes what its own filter reads. A step is one
// transaction: it takes a row of ids away, changes those contacts and counts them. A worker that is killed leaves all of a
// step or nothing.
//
// Who joins the filter meanwhile is not changed, and who leaves it is: each contact is worked as it is at its turn. Contacts
// that were archived or purged meanwhile count as unchanged.
//
// # One at a time
//
// An org's changes go in the order in which they were asked for, one step at a time. A step holds the row of its
// change, so that two runs of one job take turns.
package bulk
