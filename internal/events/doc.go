// Package events says what happened: the catalogue of event types as Go types, and Announce, which writes one
// event and its deliveries in the transaction of the change.
//
// # Why the public shapes live here
//
// An event carries the object as the API shows it. Nouns may import events and not the reverse, so the shape
// that leaves the house, Contact for one, is declared here and aliased by its noun: the webhook's object and
// the API's answer are the same type and cannot drift apart.
package events
