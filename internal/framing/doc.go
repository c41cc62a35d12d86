// Package framing admits only requests with unambiguous framing to a server (RFC 9112). The end of a request must not
// depend on who parses it; otherwise a proxy in front takes for a body what the server takes for the next request.
//
// The connections of a listener scan incoming data before the server reads it. The head of a request is held until it
// is complete. A malformed, oversized or slow head never reaches the server: a well-formed request replaces it (see
// IsRefusal), so that the server's handler sends the error in turn, after the responses to earlier requests. Data after
// a refused request is not parsed as a request. A fault in a body that the server has begun to read is the error of
// that read.
//
// A scan costs no allocation and no copy if a read returns complete heads. The connection normalizes what servers treat
// differently: it drops an empty line before a request, chunk extensions (up to 1 KiB each) and trailers, and rewrites
// HTTP/1.2 to 1.9 as HTTP/1.1.
package framing
