// Package overview keeps the counts and sums by day that the console's home page shows.
//
// A request that creates a contact or a deal does nothing for the counts. The job jobs/overviewcount reads the org's
// new events, counts again the days that they are about, and stores the counts together with the last event in one
// transaction. A day is always counted from the rows themselves, so a count that runs twice is right, and no error
// lasts: each org's days are all counted again once a day.
//
// Deliveries of webhooks change without an event. The days with deliveries under way are counted every few seconds
// after an event, and every minute until the deliveries have ended.
//
// While the overview is read, its counts are usually a few seconds old. A count rests three seconds, or twenty
// times as long as it took, so in a large org they are older. The counts of an org whose overview was not read for
// ten minutes are counted once a minute, and by the first read of it.
package overview
