// Package oauth stands in for the social networks and ad platforms where no client id is set, and in tests: their
// consent pages, token endpoints, identity and account lists, and revocation, each in its own dialect. It is a sandbox
// and says so.
//
// An address of a provider is served below Path with its host as the first part: what is at
// https://graph.facebook.com/v25.0/me there is at Path + "graph.facebook.com/v25.0/me" here. It knows nothing of our
// client's code, and was written from the providers' documents: where the two agree, they agree by what is said there.
//
// # What it insists on
//
// A code is good for one use, ten minutes, the redirect URI and the PKCE verifier that it was asked with. Clients
// authenticate where the provider wants it, in the header or in the body, never in the other. A refresh token that
// rotates is good for one use; with X and TikTok a second one ends the login. Tokens end when they were said to.
//
// # How it is put together
//
//   - sandbox.go, transport.go: the way of a request: which dialect, which fault, one piece of work on the state.
//   - dialect.go: what a provider is, as data; one file beside it for each family, with its errors and its lists.
//   - login.go, token.go: codes, logins and tokens, alike for all.
//   - person.go: who can consent, and what they own: made up from a name, kept nowhere.
//   - consent.go: the page where a person consents. page.go: the page of those who run it, and its form for scripts.
//   - knob.go: lifetimes, rotation, outages and wrong answers to choose. control.go: the same and more for Go.
//   - store.go, postgres.go: where it is kept: Memory for tests; Postgres, sealed, so that a restart finds its logins
//     again and several processes see one world.
//
// # Where it decides for the originals
//
// Pinterest's old refresh token dies at once, and its reuse ends nothing else. LinkedIn grants refresh tokens, as if we
// were an approved partner. TikTok hides the PKCE verifier in hexadecimal. An Instagram token that is younger than a
// day is refused as a wrong parameter.
package oauth
