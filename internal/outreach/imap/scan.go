package imap

import "errors"

// scanner finds literals in the text that a server sends (RFC 9051 section 4.3). A line that ends like one with a
// literal is taken for one, although the client reads the text of a status as text.
type scanner struct {
	literal int64 // bytes left of a literal

	at     int   // bytes of the line
	data   bool  // the line begins with "* " and a digit
	quoted bool  // within a string of such a line
	escape bool  // after a backslash there
	depth  int   // of lists
	size   int64 // of the literal that may follow
	state  int
}

// The states of the end of a line.
const (
	inText = iota
	inSize // after {
	atEnd  // after }
)

const (
	// maxSize bounds a size, so that it does not overflow.
	maxSize = 1 << 40
	// maxDepth bounds lists in lists. The client calls itself for each level, and wraps an error once for each, so deep
	// ones cost the square of their length. What is asked for has lists of three levels.
	maxDepth = 64
)

var (
	errString = errors.New("the server breaks a line within a string")
	errDepth  = errors.New("the server sends too many lists in lists")
)

// skip passes over up to n bytes of a literal, and returns how many.
func (s *scanner) skip(n int) int {
	n = int(min(int64(n), s.literal))
	s.literal -= int64(n)
	return n
}

// next takes one byte of text, and reports whether a line has ended with it that no literal continues.
func (s *scanner) next(b byte) (ended bool, err error) {
	if b == '\n' {
		return s.endLine()
	}
	s.beginByte(b)
	if s.data && s.inString(b) {
		s.state = inText
		return false, nil
	}
	s.nest(b)
	if s.depth > maxDepth {
		return false, errDepth
	}
	switch {
	case b == '{':
		s.state, s.size = inSize, 0
	case s.state == inSize && b >= '0' && b <= '9' && s.size < maxSize:
		s.size = s.size*10 + int64(b-'0')
	case s.state == inSize && b == '}':
		s.state = atEnd
	case s.state == atEnd && (b == '\r' || b == ' '):
	default:
		s.state = inText
	}
	return false, nil
}

// beginByte looks at the first bytes of a line.
func (s *scanner) beginByte(b byte) {
	switch s.at {
	case 0:
		s.data = b == '*'
	case 1:
		s.data = s.data && b == ' '
	case 2:
		s.data = s.data && b >= '0' && b <= '9'
	}
	s.at++
}

// nest counts the lists that are open.
func (s *scanner) nest(b byte) {
	switch b {
	case '(':
		s.depth++
	case ')':
		s.depth = max(0, s.depth-1)
	}
}

// inString reports whether the byte belongs to a string.
func (s *scanner) inString(b byte) bool {
	switch {
	case s.escape:
		s.escape = false
		return true
	case s.quoted && b == '\\':
		s.escape = true
		return true
	case b == '"' && s.at > len("* n"):
		s.quoted = !s.quoted
		return true
	}
	return s.quoted
}

func (s *scanner) endLine() (bool, error) {
	if s.data && s.quoted {
		return false, errString
	}
	literal := s.state == atEnd
	s.state = inText
	if literal && s.size > 0 {
		s.literal = s.size
		return false, nil
	}
	if literal {
		return false, nil
	}
	*s = scanner{}
	return true, nil
}
