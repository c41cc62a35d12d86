package framing

import (
	"bytes"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// scanner tracks the requests of one connection. Its zero value is at the start of a request.
type scanner struct {
	state state

	// State of the current head: offsets from its first byte.
	at       int // scanned so far
	nameAt   int
	valueAt  int
	field    field
	http11   bool
	emptied  bool // an empty line before it was dropped
	host     bool
	author   bool
	length   bool
	chunked  bool
	bodySize int64

	// State of a body.
	left   int64 // remaining bytes of the chunk, or of a body with Content-Length
	digits int   // digits of the chunk's size
	extra  int   // bytes of the extension or of the trailer
}

type state uint8

const (
	inMethod state = iota
	inTarget
	inVersion
	atLine
	inName
	inValue
	atLineFeed // of a header line
	atHeadFeed // of the head's last line

	inBody // in this and later states the head is complete
	inSize
	inExtension
	atSizeFeed
	inChunk
	atChunkReturn
	atChunkFeed
	atTrailerLine
	inTrailerName
	inTrailerValue
	atTrailerFeed
	atLastFeed
)

// field is a header's significance for the framing.
type field uint8

const (
	otherField field = iota
	hostField
	authorizationField
	lengthField
	codingField
)

// Byte classes.
const (
	tokenByte  = 1 << iota // RFC 9110, 5.6.2
	targetByte             // visible; bytes above ASCII are allowed, since many clients send them
	valueByte              // RFC 9110, 5.5, without CR and LF
	hostByte               // RFC 3986: uri-host and port
)

var classes = func() (c [256]uint8) {
	for b := range 256 {
		switch ch := byte(b); {
		case ch >= '0' && ch <= '9', ch|0x20 >= 'a' && ch|0x20 <= 'z':
			c[b] = tokenByte | hostByte
		case bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), ch) >= 0:
			c[b] = tokenByte
		}
		if bytes.IndexByte([]byte("!$%&'()*+,-.:;=[]_~"), byte(b)) >= 0 {
			c[b] |= hostByte
		}
		if b > ' ' && b != 0x7f {
			c[b] |= targetByte | valueByte
		}
		if b == ' ' || b == '\t' {
			c[b] |= valueByte
		}
	}
	return c
}()

const protocol = "HTTP/1.1"

// scanHead scans b, which contains everything received from the first byte of a head. It returns the head's length, or
// 0 if the head is incomplete.
func (s *scanner) scanHead(b []byte) (int, *fault.Fault) {
	i := s.at
	for i < len(b) {
		switch s.state {
		case inMethod:
			for i < len(b) && classes[b[i]]&tokenByte != 0 {
				i++
			}
			if i == len(b) {
				continue
			}
			if b[i] != ' ' || i == 0 {
				return 0, errBadRequestLine
			}
			i++
			s.state = inTarget
			s.nameAt = i
		case inTarget:
			for i < len(b) && classes[b[i]]&targetByte != 0 {
				i++
			}
			if i == len(b) {
				continue
			}
			if b[i] != ' ' {
				return 0, errBadRequestLine
			}
			i++
			s.state = inVersion
			s.valueAt = i
		case inVersion:
			if refused := s.scanVersion(b[s.valueAt:], i-s.valueAt); refused != nil {
				return 0, refused
			}
			if i++; s.state == atLine && !isTarget(b[:s.nameAt-1], b[s.nameAt:s.valueAt-1]) {
				return 0, errBadRequestLine
			}
		case atLine:
			switch c := b[i]; {
			case classes[c]&tokenByte != 0:
				s.state = inName
				s.nameAt = i
			case c == '\r':
				s.state = atHeadFeed
			case c == ' ', c == '\t':
				return 0, errBadFold
			case c == '\n':
				return 0, errBadLineEnd
			default:
				return 0, errBadName
			}
			i++
		case inName:
			for i < len(b) && classes[b[i]]&tokenByte != 0 {
				i++
			}
			if i == len(b) {
				continue
			}
			if b[i] != ':' {
				return 0, errBadName
			}
			s.field = fieldOf(b[s.nameAt:i])
			i++
			s.state = inValue
			s.valueAt = i
		case inValue:
			for i < len(b) && classes[b[i]]&valueByte != 0 {
				i++
			}
			if i == len(b) {
				continue
			}
			if b[i] != '\r' {
				if b[i] == '\n' {
					return 0, errBadLineEnd
				}
				return 0, errBadValue
			}
			if s.field != otherField {
				if refused := s.scanHeader(bytes.Trim(b[s.valueAt:i], " \t")); refused != nil {
					return 0, refused
				}
			}
			i++
			s.state = atLineFeed
		case atLineFeed:
			if b[i] != '\n' {
				return 0, errBadLineEnd
			}
			i++
			s.state = atLine
		default: // atHeadFeed
			if b[i] != '\n' {
				return 0, errBadLineEnd
			}
			return i + 1, s.beginNext()
		}
	}

	s.at = i
	return 0, nil
}

// emptyLine returns the length of the empty line, complete or not, at the start of b: one is allowed before a request
// (RFC 9112, 2.2).
func (s *scanner) emptyLine(b []byte) int {
	switch {
	case b[0] != '\r' || s.state != inMethod || s.at > 0 || s.emptied:
		return 0
	case len(b) == 1:
		return 1
	case b[1] != '\n':
		return 0
	}
	s.emptied = true
	return 2
}

// scanVersion checks the byte at i of b, which is in the end of the request line: HTTP/ digit . digit CR LF.
func (s *scanner) scanVersion(b []byte, i int) *fault.Fault {
	switch c := b[i]; i {
	case 5, 7:
		if c < '0' || c > '9' {
			return errBadRequestLine
		}
	case 8:
		if c != '\r' {
			return errBadRequestLine
		}
	case 9:
		switch {
		case c != '\n':
			return errBadLineEnd
		case b[5] != '1':
			return errBadVersion
		case b[7] != '0':
			s.http11, b[7] = true, '1'
		}
		s.state = atLine
	default:
		if c != protocol[i] {
			return errBadRequestLine
		}
	}

	return nil
}

// isTarget reports whether target has one of the four forms of RFC 9112, 3.2.
func isTarget(method, target []byte) bool {
	switch {
	case len(target) == 0:
		return false
	case target[0] == '/':
		return true
	case len(target) == 1 && target[0] == '*':
		return string(method) == "OPTIONS"
	case string(method) == "CONNECT":
		return bytes.IndexByte(target, '/') < 0 && bytes.IndexByte(target, ':') > 0 && !IsRefusal(string(target))
	default:
		scheme, rest, found := bytes.Cut(target, []byte("://"))
		return found && len(rest) > 0 &&
			(bytes.EqualFold(scheme, []byte("http")) || bytes.EqualFold(scheme, []byte("https")))
	}
}

func fieldOf(name []byte) field {
	switch len(name) {
	case len("host"):
		if equalsFold(name, "host") {
			return hostField
		}
	case len("authorization"):
		if equalsFold(name, "authorization") {
			return authorizationField
		}
	case len("content-length"):
		if equalsFold(name, "content-length") {
			return lengthField
		}
	case len("transfer-encoding"):
		if equalsFold(name, "transfer-encoding") {
			return codingField
		}
	}

	return otherField
}

// equalsFold reports whether name equals lower, ignoring ASCII case. lower may contain only letters and hyphens.
func equalsFold(name []byte, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i := range len(lower) {
		if c := name[i]; c != lower[i] && (c < 'A' || c > 'Z' || c|0x20 != lower[i]) {
			return false
		}
	}
	return true
}

// scanHeader processes one header that affects the framing or must not occur twice.
func (s *scanner) scanHeader(value []byte) *fault.Fault {
	switch s.field {
	case hostField:
		if s.host {
			return errTwoHosts
		}
		s.host = true
		for _, c := range value {
			if classes[c]&hostByte == 0 {
				return errBadHost
			}
		}
	case authorizationField:
		if s.author {
			return errTwoCredentials
		}
		s.author = true
	case lengthField:
		if s.length {
			return errTwoLengths
		}
		s.length = true
		if len(value) == 0 || len(value) > 18 { // fits in 63 bits
			return errBadLength
		}
		for _, c := range value {
			if c < '0' || c > '9' {
				return errBadLength
			}
			s.bodySize = s.bodySize*10 + int64(c-'0')
		}
	default:
		if s.chunked {
			return errTwoCodings
		}
		s.chunked = true
		if !equalsFold(value, "chunked") {
			return errBadCoding
		}
	}

	return nil
}

// beginNext continues after a complete head, with its body or with the next head.
func (s *scanner) beginNext() *fault.Fault {
	http11, host, length, chunked, size := s.http11, s.host, s.length, s.chunked, s.bodySize
	*s = scanner{}
	switch {
	case http11 && !host:
		return errNoHost
	case length && chunked:
		return errLengthAndCoding
	case chunked && !http11:
		return errOldCoding
	case chunked:
		s.state = inSize
	case size > 0:
		s.state = inBody
		s.left = size
	}

	return nil
}
