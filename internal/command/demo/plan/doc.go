// Package plan makes up half a year of an org: companies, contacts, deals, notes and tasks, and when each of them was
// created and changed. It is a pure function of a seed, a number of contacts and an end: it reads and writes nothing.
//
//	plan.go      Make, and the objects and actions of a plan
//	calendar.go  the moments of a half year: working hours, more in recent months
//	people.go    companies and contacts
//	sales.go     deals: who buys, for how much, and how long it takes
//	work.go      notes and tasks
//	names.go texts.go   the words that all of this is made of
package plan
