// Package framing lets a server see only requests whose framing is beyond doubt (RFC 9112): where a request ends must
// not depend on who reads it, or a proxy in front takes for a body what the server takes for the next request.
//
// A Listener's connections scan what arrives before the server reads it. The head of a request is held until it is
// complete. A head that is malformed, too large or too slow never reaches the server: a well-formed request stands in
// for it (see IsRefusal), so that the server's own handler answers in its turn, behind the answers to the requests
// before it. Nothing behind a refused request is read as a request. A fault in a body that the server has begun to read is
// the error of that read.
//
// A scan costs no allocation and no copy where a read holds whole heads. These things are changed on the way, since
// servers differ in them: an empty line before a request, chunk extensions (up to 1 KiB each) and trailers are dropped,
// and HTTP/1.2 to 1.9 is written as HTTP/1.1.
package framing
