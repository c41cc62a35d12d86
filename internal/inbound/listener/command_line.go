package listener

import (
	"strconv"
	"strings"
)

// commandLine follows the lines of commands in a stream, and skips the chunks that BDAT commands announce (RFC 3030).
type commandLine struct {
	start   []byte // the first bytes of the line
	length  int
	skip    int64 // bytes of a chunk that follow
	chunked bool  // the last command was BDAT
}

// startBytes is how much of a line is kept: more than a BDAT command takes.
const startBytes = 64

// readCommands reads b up to the end of command number most, or to where a line is too long. It returns how many bytes
// that is, and how many commands end in them.
func (l *commandLine) readCommands(b []byte, most int) (n, commands int) {
	for n < len(b) && !l.tooLong() && commands < most {
		if l.skip > 0 {
			skipped := min(l.skip, int64(len(b)-n))
			l.skip, n = l.skip-skipped, n+int(skipped)
			continue
		}
		if b[n] == '\n' {
			commands++
			l.finishLine()
		} else {
			if len(l.start) < startBytes {
				l.start = append(l.start, b[n])
			}
			l.length++
		}
		n++
	}

	return n, commands
}

func (l *commandLine) finishLine() {
	words := strings.Fields(string(l.start))
	l.chunked = len(words) >= 2 && strings.EqualFold(words[0], "BDAT")
	if l.chunked {
		if n, err := strconv.ParseUint(words[1], 10, 32); err == nil {
			l.skip = int64(n)
		}
	}
	l.start, l.length = l.start[:0], 0
}

func (l *commandLine) tooLong() bool { return l.length > maxLine }
