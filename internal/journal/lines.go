package journal

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// castagnoli is the polynomial of the checksums.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumLength is the length of a checksum and the space behind it.
const sumLength = 9

// AppendLine appends a line with its checksum to body. line must not have a line break.
func AppendLine(body, line []byte) []byte {
	body = fmt.Appendf(body, "%08x ", crc32.Checksum(line, castagnoli))
	return append(append(body, line...), '\n')
}

// LineLength returns how many bytes AppendLine appends.
func LineLength(line []byte) int { return sumLength + len(line) + 1 }

// isIntact reports whether a line has its checksum.
func isIntact(line []byte) bool {
	return len(line) >= sumLength && bytes.Equal(AppendLine(nil, line[sumLength:])[:sumLength], line[:sumLength])
}

// Lines returns the lines of body, and how many it leaves out because they are incomplete or damaged.
func Lines(body []byte) (lines [][]byte, damaged int) {
	for len(body) > 0 {
		line, others, whole := bytes.Cut(body, []byte{'\n'})
		body = others
		if !whole || !isIntact(line) {
			damaged++
			continue
		}
		lines = append(lines, line[sumLength:])
	}
	return lines, damaged
}
