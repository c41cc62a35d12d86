// Package overview keeps the counts and sums by day that the console's home page shows.
//
// A request that creates a contact or a deal does nothing for the counts. The job jobs/overviewcount reads the org's
// new events, counts again the days that they are about, and stores the counts together with the last event in one
// transaction. A day is always counted from the rows themselves, so a count that runs twice is right, and no error
// lasts: all days of an org are counted again a day later.
//
// Deliveries of webhooks change without an event. The days with deliveries under way are counted every few seconds
// after an event, and every minute until the deliveries have ended. The state has an id below which all deliveries had
// ended at the last count, and how many of these are of the day of that id, so a count reads only later ones. Once a
// day it reads them all.
//
// # When an overview is looked at
//
// A look finds out whether an org has something to count. The state of each org has the time of the next look, in an
// index, so orgs in which nothing happens cost next to nothing. While the overview is read, looks are seconds apart,
// and its counts are usually a few seconds old. A count rests three seconds, or twenty times as long as it took, so in
// a large org they are older. An overview that was not read for ten minutes is looked at a minute after its last count,
// then two minutes after that, four, and so on up to a day: where events keep coming, it is counted once a minute. The
// first read of it counts, too, if there are a few rows to count, and otherwise makes it due.
package overview
