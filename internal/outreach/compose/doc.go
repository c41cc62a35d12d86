// Package compose makes mails: it renders templates with the values of a contact, and writes messages as MIME.
//
// Parse checks a Source (subject, HTML, text, blocks) and returns a Template, whose Render fills in the merge values.
// The result has an HTML part with inlined styles, sanitised by one policy, and always a text part. A value that is
// missing and has no default is a *MissingError, never a gap in the mail.
//
// Mail.MIME writes a message. Its bytes depend on the fields of the Mail alone: a Mail with the same Message-ID, date
// and content has the same bytes on every machine, so a retry sends what the first attempt sent, and a digest proves
// it.
//
// # Headers
//
// Header values come from contacts, templates and mails of strangers. All pass through headers.go: line ends and
// control characters become one space, text that is not plain ASCII or that looks like an encoded word is encoded
// (RFC 2047), and addresses, Message-IDs and URLs that are not well-formed are errors or are left out. No value can
// begin a header line or end the header.
package compose
