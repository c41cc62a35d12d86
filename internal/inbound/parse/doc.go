// Package parse reads incoming mails. It needs no database, and it never fails: of a malformed mail it returns what is
// legible, since people's mail programs send such mails and expect an answer.
//
// # Limits
//
// A mail is untrusted. A mail has at most MaxBytes; of each part, at most maxHeader bytes and maxFields fields of the
// header are read; parts beyond the maxParts-th or deeper than maxDepth are ignored, and so is text beyond maxText
// bytes. Parts are slices of the mail, attachments are counted and never decoded in memory, and no archive is opened,
// so the memory stays within a small multiple of maxText whatever a mail contains. Mail.Cut reports that a limit was
// met.
//
// # Why no library
//
// go-message refuses a mail for one bad line of its header. enmime is tolerant, but holds each part several times and
// has no limit of depth, parts or fields; a limit before it would have to parse the mail as well.
package parse
