package framing

import "github.com/funnelwork/funnelwork/internal/fault"

// standIn takes the place of a refused request. No request of a client has its target, which the scanner refuses.
const (
	refusalTarget = "refused:request"
	standIn       = "GET " + refusalTarget + " HTTP/1.1\r\nHost: refused\r\nConnection: close\r\n\r\n"
)

// IsRefusal reports whether a request with this target stands in for one that was refused. The connection's Refusal
// says why; the answer must close the connection.
func IsRefusal(target string) bool { return target == refusalTarget }

func malformed(detail string) *fault.Fault { return fault.New(fault.MalformedRequest, detail) }

// The refusals. They are values, so that a refusal allocates nothing.
var (
	badRequestLine  = malformed("The request line is malformed.")
	badVersion      = fault.New(fault.VersionUnsupported, "This server speaks HTTP/1.1 and HTTP/1.0.")
	badLineEnd      = malformed("Lines of a request end with CR LF, and neither occurs elsewhere in them.")
	badFold         = malformed("A header line begins with a blank: folded lines are not taken.")
	badName         = malformed("A header's name is malformed; a colon follows it at once.")
	badValue        = malformed("A header's value has control characters.")
	badHost         = malformed("The Host header is malformed.")
	twoHosts        = malformed("There is more than one Host header.")
	noHost          = malformed("A request of HTTP/1.1 has a Host header.")
	twoCredentials  = malformed("There is more than one Authorization header.")
	badLength       = malformed("Content-Length is no number of bytes.")
	twoLengths      = malformed("There is more than one Content-Length header.")
	badCoding       = malformed("Transfer-Encoding is chunked or absent.")
	twoCodings      = malformed("There is more than one Transfer-Encoding header.")
	lengthAndCoding = malformed("Content-Length and Transfer-Encoding exclude each other.")
	oldCoding       = malformed("HTTP/1.0 has no Transfer-Encoding.")
	badChunkSize    = malformed("The size of a chunk is malformed.")
	badExtension    = malformed("A chunk's extension is malformed or longer than 1 KiB.")
	badChunkEnd     = malformed("A chunk does not end where its size says.")
	badTrailer      = malformed("The trailer is malformed.")
	endedEarly      = malformed("The request ended before its head was complete.")
	tooSlow         = fault.New(fault.RequestTimeout, "The request took too long to arrive.")
)
