// Package tracking learns whether emails are opened and their links followed, and distinguishes people from machines.
//
// # Links
//
// Instrument replaces the targets of a mail's links by addresses of ours with a token: the org, the email, and the
// number of the link, signed with the org's key. The target is looked up by the number and never carried, so nobody can
// make us redirect to a place that is not in the mail. The pixel is such an address, too.
//
// # Hits
//
// A request for such an address is a hit. It is stored before the answer, in one statement with other hits of the
// moment. If the database is away, a redirect whose target is known in this process still answers; its hit is lost.
// Of the client only signs of a machine are kept, and for some minutes a keyed hash of its network.
//
// # Verdicts
//
// Mail servers, proxies and scanners load pictures and follow links, too. Ten seconds after a hit the job
// tracking.judge looks at it and at the hits around it, decides, and writes a fact, the email's figures and an event.
// Statistics show people and machines apart; nothing that acts on a click acts on a machine's.
package tracking
