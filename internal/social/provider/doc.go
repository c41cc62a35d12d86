// Package provider is the client for the social networks and ad platforms that grant tokens to us. It builds the
// address at which a person consents, exchanges the code, renews and revokes tokens, and looks up who has logged in and
// which accounts the login reaches. It is stateless: no database, no jobs, and no clock except the one it is given.
//
// A provider is a [Spec]: data, and, where the provider departs from RFC 6749, a few functions in the same file. Every
// refusal and every lost response is returned as an [*Error]; its class states what the caller may do.
//
// # What the caller may rely on
//
//   - One call of Refresh is one request. It never retries, never tries another client authentication, and follows no
//     redirect: a second request with a single-use token would end the login. (net/http itself may resend a GET if a
//     reused connection turns out to be closed; providers that renew by GET leave the old token valid.)
//   - A refresh token is never replaced by an empty one: Refresh keeps the old one if the response has none.
//   - Lifetimes are those that the response states. If it states none, the provider's usual lifetime is assumed and
//     Token.LifetimeAssumed is set.
//   - No error, log line or JSON shows a token, a code or a client secret: [Secret] formats as a placeholder, and an
//     Error consists of a class, a code and a status, never of the text of a response or of an address.
//   - Every method has its own timeout: CallTime for a request, LoginTime for Login.
//
// # OAuth 1.0a
//
// X's Ads API does not accept OAuth 2.0; package oauth1 cites X's documentation. Such a platform has a Dialect.Request:
// it issues a request token before the person is sent to it (Begin), every request is signed, and a token consists of
// two texts, one of which is never sent. Both texts are one Secret here, so that callers store them like other tokens.
//
// # Why x/oauth2 only for the address and PKCE
//
// Its Exchange would serve eight of the fourteen platforms. But it decodes a response into its own Token before we see
// it, so errors with status 200, missing lifetimes and truncated bodies would each need a second way to be reported.
// Its TokenSource renews within one process and has no place to store the result. Here Exchange and Refresh share one
// call and one interpretation of responses, which the table of errors tests.
package provider
