// Package replyjournal keeps final replies of mail servers that Postgres could not take.
//
// # Where a reply is
//
// A run puts the reply to its final dot into the process's Journal, and takes it out when the outcome is committed: a
// mail costs two accesses to a map. What has not been committed after half a second is in the journal's file as well,
// written for all such replies together. When a run has ended without its outcome, because Postgres was away for longer
// than its lease, refused the statement, or the run had lost its job, the Journal writes the outcome itself
// (emails.Replay), again and again until Postgres takes it. The next run of the email's job in the same process takes
// the reply over, if it comes first.
//
// A process that is killed leaves its file in the directory. The next process that starts there, or another one that
// runs there already, adopts the file and writes the outcomes.
//
// # What is lost
//
// A reply that came less than half a second before the process was killed, and those above the bounds: their emails are
// unknown. Without a directory that can be written the replies are in the process alone.
package replyjournal
