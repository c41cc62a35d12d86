// Package provider reads what providers of outgoing mail post about the mails that they have sent: deliveries, bounces,
// complaints and unsubscriptions of Amazon SES, Postmark, Mailgun and SendGrid. It verifies each request with the key
// of the mailbox, and stores nothing.
//
//	ses       the key is the ARN of the SNS topic. A message is signed with a certificate of SNS, whose address must
//	          be one of amazonaws.com. A subscription to the topic is confirmed.
//	postmark  does not sign: the key is the password of HTTP basic authentication in the webhook's address.
//	mailgun   the key is the webhook signing key. The HMAC covers a timestamp and a token, not the event, so that a
//	          token may be used only once (Batch.Once).
//	sendgrid  the key is the public key of the signed event webhook, an ECDSA key on P-256.
//
// Opens and clicks that providers count are ignored, since package tracking counts its own.
package provider
