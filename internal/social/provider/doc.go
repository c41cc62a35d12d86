// Package provider speaks to the social networks and ad platforms that grant tokens to us: the address at which a
// person consents, the exchange of the code, the renewal of tokens, who has logged in and which accounts that login
// can reach, and the end of it all. It keeps nothing: no database, no jobs, no clock but the one it is given.
//
// A provider is a [Spec]: data, and where it departs from RFC 6749 a few functions in the same file. Everything that
// can be refused or lost on the way comes back as an [*Error], whose class says what its caller may do.
//
// # What the caller may rely on
//
//   - One call of Refresh is one request. Nothing is repeated, no client authentication is probed, no redirect is
//     followed: a second request with a token that is good for one use would end the login. (net/http itself may send
//     a GET again where a kept connection turns out closed; those who renew by GET leave the old token good.)
//   - A refresh token is never replaced by an empty one: Refresh keeps the old one where the answer has none.
//   - Lifetimes are those that the answer states. Where it states none the provider's usual one is assumed and
//     Token.LifetimeAssumed says so.
//   - No error, log line or JSON shows a token, a code or a client secret: [Secret] hides itself, and an Error is
//     made of a class, a code and a status, never of the words of an answer or of an address.
//   - Every method ends by itself: a request after CallTime, Login after LoginTime.
//
// # Why x/oauth2 for the address and PKCE, and no further
//
// Its Exchange would do for eight of the thirteen. But it reads an answer into its own Token before we see it, so
// errors that come with status 200, lifetimes that are missing and bodies that broke off would each need a second
// way to be told; its TokenSource renews in one process, with no place to store what came. Exchange and Refresh here
// are one call with one reading of answers, which the table of errors is held against.
package provider
