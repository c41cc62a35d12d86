package framing

import "github.com/funnelwork/funnelwork/internal/fault"

const (
	maxSizeDigits = 15 // fits in 63 bits
	maxExtension  = 1 << 10
	maxTrailer    = 16 << 10
)

// inHead reports whether the next byte belongs to a head.
func (s *scanner) inHead() bool { return s.state < inBody }

// scanBody scans b, which continues a body, up to the body's end. It returns the number of bytes consumed, and the
// number of bytes, moved to the front of b, that the server receives: all except extensions and trailers.
func (s *scanner) scanBody(b []byte) (taken, kept int, refused *fault.Fault) {
	i := 0
	w := 0
	for i < len(b) {
		c := b[i]
		switch s.state {
		case inBody, inChunk:
			n := int(min(s.left, int64(len(b)-i)))
			if w != i {
				copy(b[w:], b[i:i+n])
			}
			i, w = i+n, w+n
			if s.left -= int64(n); s.left > 0 {
				continue
			}
			if s.state == inBody {
				*s = scanner{}
				return i, w, nil
			}
			s.state = atChunkReturn
			continue
		case inSize:
			if s.digits > 0 && c == ';' {
				s.state = inExtension
				continue
			}
			if refused = s.scanSize(c); refused != nil {
				return i, w, refused
			}
		case inExtension:
			if c == '\r' {
				s.state = atSizeFeed
				break
			}
			if s.extra++; classes[c]&valueByte == 0 || s.extra > maxExtension {
				return i, w, errBadExtension
			}
			i++
			continue
		case atSizeFeed:
			if c != '\n' {
				return i, w, errBadLineEnd
			}
			s.extra = 0
			s.digits = 0
			if s.state = inChunk; s.left == 0 {
				s.state = atTrailerLine
			}
		case atChunkReturn:
			if c != '\r' {
				return i, w, errBadChunkEnd
			}
			s.state = atChunkFeed
		case atChunkFeed:
			if c != '\n' {
				return i, w, errBadChunkEnd
			}
			s.state = inSize
		case atTrailerLine:
			if c == '\r' {
				s.state = atLastFeed
				break
			}
			fallthrough
		case inTrailerName, inTrailerValue, atTrailerFeed:
			if refused = s.scanTrailer(c); refused != nil {
				return i, w, refused
			}
			i++
			continue
		default: // atLastFeed
			if c != '\n' {
				return i, w, errBadLineEnd
			}
			b[w] = c
			*s = scanner{}
			return i + 1, w + 1, nil
		}
		b[w] = c
		i, w = i+1, w+1
	}

	return i, w, nil
}

// scanSize consumes one byte of a chunk's size, or the CR after it.
func (s *scanner) scanSize(c byte) *fault.Fault {
	var digit byte
	switch {
	case c >= '0' && c <= '9':
		digit = c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		digit = c | 0x20 - 'a' + 10
	case c == '\r' && s.digits > 0:
		s.state = atSizeFeed
		return nil
	default:
		return errBadChunkSize
	}

	if s.digits++; s.digits > maxSizeDigits {
		return errBadChunkSize
	}

	s.left = s.left<<4 | int64(digit)
	return nil
}

// scanTrailer consumes one byte of a trailer line.
func (s *scanner) scanTrailer(c byte) *fault.Fault {
	if s.extra++; s.extra > maxTrailer {
		return errBadTrailer
	}
	switch s.state {
	case atTrailerLine:
		if classes[c]&tokenByte == 0 {
			return errBadTrailer
		}
		s.state = inTrailerName
	case inTrailerName:
		if c == ':' {
			s.state = inTrailerValue
		} else if classes[c]&tokenByte == 0 {
			return errBadTrailer
		}
	case inTrailerValue:
		if c == '\r' {
			s.state = atTrailerFeed
		} else if classes[c]&valueByte == 0 {
			return errBadTrailer
		}
	default: // atTrailerFeed
		if c != '\n' {
			return errBadTrailer
		}
		s.state = atTrailerLine
	}

	return nil
}
