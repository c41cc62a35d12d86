// Package oauth is a sandbox for the social networks and ad platforms. It is used where no client id is configured, and
// in tests. It implements the consent pages, token endpoints, identity and account lists, and revocation, each in the
// provider's own dialect. Its pages state that it is a sandbox.
//
// A provider's address is served below Path, with its host as the first segment: for
// https://graph.facebook.com/v25.0/me that is Path + "graph.facebook.com/v25.0/me". The package shares no code with our
// client and was written from the providers' documentation, so that an agreement of the two is evidence.
//
// # What it enforces
//
// A code is valid for a single use, for ten minutes, and with the redirect URI and the PKCE verifier of its request.
// Clients must authenticate where the provider expects it, in the header or in the body, never in the other. A
// signature covers the provider's own address and every parameter; its nonce is valid for one request, and its
// timestamp must be within five minutes of the real clock. A rotating refresh token is valid for a single use; with X
// and TikTok a second use ends the login. Tokens expire when they were announced to.
//
// # Structure
//
//   - sandbox.go, transport.go: the path of a request: its dialect, its fault, and one unit of work on the state.
//   - dialect.go: a provider as data; one file for each family, with its errors and its lists.
//   - login.go, token.go: codes, logins and tokens, common to all.
//   - signature.go: signed requests of OAuth 1.0a; x_ads.go: its request tokens.
//   - person.go: who can consent, and what they own: derived from a name, not stored.
//   - consent.go: the page where a person consents. page.go: the operator's page, and its form for scripts.
//   - knob.go: configurable lifetimes, rotation, outages and wrong responses. control.go: the same and more for Go.
//   - store.go, postgres.go: storage: Memory for tests; Postgres, sealed, so that logins survive a restart and
//     several processes share one state.
//
// # Where the providers' behavior is assumed
//
// Pinterest's old refresh token is invalidated at once, and its reuse ends nothing else. LinkedIn issues refresh
// tokens, as to an approved partner. TikTok's PKCE challenge is hexadecimal. An Instagram token that is less than a day
// old is refused as a wrong parameter.
package oauth
