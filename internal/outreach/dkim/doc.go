// Package dkim signs mails (RFC 6376, RFC 8463). The signature depends on the mail and the key alone: its time is that
// of the mail's Date header, and RSA signs by PKCS #1 v1.5, as DKIM demands. So a mail that is signed twice with one
// key has the same bytes.
package dkim
