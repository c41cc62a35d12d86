// Package oauth1 signs requests for OAuth 1.0a: RFC 5849 with HMAC-SHA1. It sends nothing and stores nothing.
//
// # Why OAuth 1.0a, and SHA-1
//
// X's Ads API accepts nothing else: "all requests to the Ads API require Authorization headers using OAuth 1.0a with an
// access token obtained via 3-legged OAuth flow" (docs.x.com/x-ads-api/fundamentals/accessing-ads-accounts). X
// documents HMAC-SHA1 as the only signature method
// (docs.x.com/fundamentals/authentication/oauth-1-0a/creating-a-signature). HMAC does not depend on the collision
// resistance that SHA-1 has lost.
//
// # Why not a library
//
// github.com/dghubble/oauth1 v0.7.3 keeps only one value of a parameter that is sent twice, so it fails RFC 5849's own
// example (section 3.4.1.1). Its token requests take no context and read responses without a limit, and their errors
// quote the response body, which may hold a secret. All that would remain to use is one HMAC.
package oauth1
