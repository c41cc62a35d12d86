package framing

import "github.com/funnelwork/funnelwork/internal/fault"

// standIn replaces a refused request. A client cannot send its target, since the scanner refuses it.
const (
	refusalTarget = "refused:request"
	standIn       = "GET " + refusalTarget + " HTTP/1.1\r\nHost: refused\r\nConnection: close\r\n\r\n"
)

// IsRefusal reports whether a request with this target replaces a refused one. The connection's Refusal returns the
// reason. The response must close the connection.
func IsRefusal(target string) bool { return target == refusalTarget }

func newMalformed(detail string) *fault.Fault { return fault.New(fault.MalformedRequest, detail) }

// The refusals. They are variables, so that a refusal does not allocate.
var (
	errBadRequestLine  = newMalformed("The request line is malformed.")
	errBadVersion      = fault.New(fault.VersionUnsupported, "This server speaks HTTP/1.1 and HTTP/1.0.")
	errBadLineEnd      = newMalformed("Lines of a request end with CR LF, and neither occurs elsewhere in them.")
	errBadFold         = newMalformed("A header line begins with a blank: folded lines are not taken.")
	errBadName         = newMalformed("A header's name is malformed; a colon follows it at once.")
	errBadValue        = newMalformed("A header's value has control characters.")
	errBadHost         = newMalformed("The Host header is malformed.")
	errTwoHosts        = newMalformed("There is more than one Host header.")
	errNoHost          = newMalformed("A request of HTTP/1.1 has a Host header.")
	errTwoCredentials  = newMalformed("There is more than one Authorization header.")
	errBadLength       = newMalformed("Content-Length is no number of bytes.")
	errTwoLengths      = newMalformed("There is more than one Content-Length header.")
	errBadCoding       = newMalformed("Transfer-Encoding is chunked or absent.")
	errTwoCodings      = newMalformed("There is more than one Transfer-Encoding header.")
	errLengthAndCoding = newMalformed("Content-Length and Transfer-Encoding exclude each other.")
	errOldCoding       = newMalformed("HTTP/1.0 has no Transfer-Encoding.")
	errBadChunkSize    = newMalformed("The size of a chunk is malformed.")
	errBadExtension    = newMalformed("A chunk's extension is malformed or longer than 1 KiB.")
	errBadChunkEnd     = newMalformed("A chunk does not end where its size says.")
	errBadTrailer      = newMalformed("The trailer is malformed.")
	errEndedEarly      = newMalformed("The request ended before its head was complete.")
	errTooSlow         = fault.New(fault.RequestTimeout, "The request took too long to arrive.")
)
