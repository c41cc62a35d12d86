// Package templates keeps the templates of an org's mails, and renders mails for contacts.
//
// A template is a compose.Source with a name. A mail is rendered from a template or from parts of its own, with the
// values of a contact, its company, the sender and the org. Collect reads these values once, as JSON: a mail that
// stores the JSON renders to the same bytes later, whatever happens to the contact in between.
//
// # Links
//
// unsubscribe_url leads to the page that ends marketing mails, and preferences_url to the page on which the contact
// chooses what it gets. Its token is opaque: the ids of the org, the contact
// and the mail, and 96 bits of an HMAC by the org's random key. A token has no end and is not used up, since a mail may
// be opened years later and a link in it twice.
package templates
