// Package imap reads the mailboxes that mail is sent from, by IMAP: it looks for mails in the Sent folder, and fetches
// incoming mails. It is the only package that uses go-imap.
//
// A connection reads only: folders are examined, never selected, and nothing is marked as seen. The host is given by
// users, so the rules on addresses, ports and TLS are those of internal/outreach/transport, and what a server may send
// is bounded.
package imap
