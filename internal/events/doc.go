// Package events defines the catalogue of event types as Go types. Announce writes an event and its deliveries in the
// transaction of the change. The package also reads events: the feed and the timelines of contacts.
//
// # Why the public types are declared here
//
// An event carries the object as the API shows it. Domain packages import events and not the reverse, so public types
// such as Contact are declared here and aliased by their domain packages. The webhook payload and the API response
// therefore use the same type and cannot drift apart.
//
// # Timelines
//
// An event that concerns contacts also has an entry on the timeline of each, inserted by the same statement. Events are
// deleted after 30 days, but entries are kept as long as the contact. An entry therefore holds the main members of the
// object and the changes, not the whole payload.
//
// # The end of the feed
//
// Sequence numbers contain the transaction id, and the feed ends before the oldest open transaction, so that a reader
// misses nothing. A transaction of somebody else, such as an open psql, would stop all feeds. Our own writers therefore
// register with a shared advisory lock, and workers publish the oldest open transaction of ours in a row. It is a lock
// and not a table of writers, because a lock ends with its session, however that ends. Migration 0132 has the rules.
// Without a worker the feeds wait for the oldest transaction of all.
//
// # The days of the feed
//
// A page reads sixteen days at a time, each with a statement of its own: one statement over all days would lock each
// partition with its indexes, and those of a year, in a hundred sessions, are more locks than a stock server has. The
// order of ids is not exactly that of the numbers, so a page looks into all days, and merges.
package events
