// Package events says what happened: the catalogue of event types as Go types, Announce, which writes one event and
// its deliveries in the transaction of the change, and what is read of it, the feed and the timelines of contacts.
//
// # Why the public shapes live here
//
// An event carries the object as the API shows it. Nouns may import events and not the reverse, so the shape
// that leaves the house, Contact for one, is declared here and aliased by its noun: the webhook's object and
// the API's answer are the same type and cannot drift apart.
//
// # Timelines
//
// An event that concerns contacts is also a line on the timeline of each, written by the same statement. The events go
// after 30 days, the lines stay for as long as the contact does, so a line has the main members of the object and
// what changed, and not the whole payload.
package events
