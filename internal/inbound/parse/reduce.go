package parse

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
)

// MaxReceived is how many bytes a mail may have that is received. Above MaxBytes it is reduced.
const MaxReceived = 150 << 20

// Limits of a reduced mail.
const (
	keptText   = 3 << 20   // bytes of the text parts together, and of those that are a mail or a report
	keptHeader = maxHeader // bytes of the header of the mail and of each part
	keptAll    = 8 << 20
	longLine   = 64 << 10 // a line is read in pieces of that size
)

// MostHeld is how many bytes Reduce holds in memory at most, the copies that growing makes included.
const MostHeld = 3 * (keptAll + 1<<20)

// LeftOut is the field in the header of a part whose content was left out of a reduced mail: how many bytes it had, and
// their hash, which tells mails with other files apart.
const LeftOut = "X-Funnelwork-Left-Out"

// ErrTooLarge is the error of a mail above MaxReceived.
var ErrTooLarge = errors.New("the mail is too large")

// Receive reads a mail of any size up to MaxReceived. One above MaxBytes is reduced to its headers, its first text
// parts and the reports in it: of a file there remains the header of its part, with LeftOut. The same mail is always
// reduced to the same bytes. What is held in memory has at most MaxBytes and keptAll.
func Receive(r io.Reader) (raw []byte, err error) {
	var whole bytes.Buffer
	n, err := io.CopyN(&whole, r, MaxBytes+1)
	if errors.Is(err, io.EOF) {
		return whole.Bytes(), nil
	}
	if err != nil {
		return nil, err
	}
	return reduce(io.MultiReader(&whole, io.LimitReader(r, MaxReceived-n+1)))
}

// Reduce reads a mail as Receive does that is known to be above MaxBytes.
func Reduce(r io.Reader) ([]byte, error) { return reduce(io.LimitReader(r, MaxReceived+1)) }

func reduce(r io.Reader) ([]byte, error) {
	d := reducer{}
	d.beginPart()
	in := bufio.NewReaderSize(r, longLine)
	read, begins := 0, true
	for {
		line, err := in.ReadSlice('\n')
		if read += len(line); read > MaxReceived {
			return nil, ErrTooLarge
		}
		if len(line) > 0 {
			d.addLine(line, begins)
		}
		switch begins = err == nil; {
		case err == nil, errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			d.endPart()
			return d.out.Bytes(), nil
		default:
			return nil, fmt.Errorf("read mail: %w", err)
		}
	}
}

// reducer writes a reduced mail, line by line.
type reducer struct {
	out        bytes.Buffer
	boundaries []string // of the multiparts around the part, the outermost first
	text       int      // bytes of texts that were kept

	header bytes.Buffer // of the part, as far as it is kept
	inside bool         // the header of the part has ended
	place  int          // in out, at which a field of the part's header can be inserted
	keeps  bool         // the part's content is kept as long as there is room
	outer  bool         // before the first part of a multipart, or after the last one
	files  int          // bytes that were left out
	digest hash.Hash    // of what was left out
	parts  int          // that have begun
}

// beginPart begins the header of a part.
func (d *reducer) beginPart() {
	d.header.Reset()
	d.inside, d.keeps, d.outer, d.files, d.digest = false, false, false, 0, nil
	d.parts++
}

// addLine adds a line, or a piece of one that does not begin it.
func (d *reducer) addLine(line []byte, begins bool) {
	if d.parts > maxParts { // Parse reads no more
		return
	}
	if begins && len(line) > 2 && line[0] == '-' && line[1] == '-' {
		if level, last, found := d.delimiter(line); found {
			d.endPart()
			d.boundaries = d.boundaries[:level+1]
			d.write(line)
			d.beginPart()
			if last {
				d.boundaries = d.boundaries[:level]
				d.inside, d.outer = true, true
			}
			return
		}
	}
	if d.inside {
		d.addContent(line)
		return
	}

	if d.header.Len()+len(line) <= keptHeader {
		d.header.Write(line)
	}
	if begins && len(bytes.TrimRight(line, "\r\n")) == 0 {
		d.endHeader(line)
	}
}

// delimiter returns the innermost multipart whose delimiter a line is, and whether it is the last one.
func (d *reducer) delimiter(line []byte) (level int, last, found bool) {
	text := string(bytes.TrimRight(line, " \t\r\n"))
	for level = len(d.boundaries) - 1; level >= 0; level-- {
		if rest, ok := strings.CutPrefix(text[2:], d.boundaries[level]); ok && (rest == "" || rest == "--") {
			return level, rest == "--", true
		}
	}
	return 0, false, false
}

// endHeader decides by the header of a part what becomes of its content. blank is the line that ends it.
func (d *reducer) endHeader(blank []byte) {
	if d.header.Len() == 0 {
		d.header.Write(blank)
	}
	r := reader{mail: &Mail{}}
	h, _ := r.splitHeader(d.header.Bytes())
	kind, params := mediaType(h.Get("Content-Type"))
	d.write(bytes.TrimSuffix(bytes.TrimSuffix(d.header.Bytes(), []byte("\n")), []byte("\r")))
	d.place = d.out.Len()
	d.write(blank)
	d.inside = true
	isMultipart := strings.HasPrefix(kind, "multipart/")
	switch {
	case isMultipart && params["boundary"] != "" && len(d.boundaries) < maxDepth:
		d.boundaries = append(d.boundaries, params["boundary"])
		d.outer = true
	case isMultipart, strings.HasPrefix(kind, "message/"), strings.HasPrefix(kind, "text/rfc822"):
		d.keeps = true
	default:
		d.keeps = !isFile(h, kind, params)
	}
}

// addContent keeps a line of a part's content, or leaves it out.
func (d *reducer) addContent(line []byte) {
	if d.outer {
		return
	}
	if d.keeps && d.text+len(line) <= keptText && d.out.Len()+len(line) <= keptAll {
		d.text += len(line)
		d.write(line)
		return
	}
	if d.keeps = false; d.digest == nil {
		d.digest = sha256.New()
	}
	content := bytes.TrimRight(line, " \t\r\n")
	d.files += len(content)
	_, _ = d.digest.Write(content) // a hash has no errors
}

// endPart ends the content of a part: what was left out is noted in its header.
func (d *reducer) endPart() {
	if !d.inside { // the header is all there is
		d.write(d.header.Bytes())
		return
	}
	if d.digest == nil || d.parts > maxParts {
		return
	}
	field := fmt.Sprintf("%s: %d sha256=%s\r\n", LeftOut, d.files, hex.EncodeToString(d.digest.Sum(nil)))
	rest := bytes.Clone(d.out.Bytes()[d.place:])
	d.out.Truncate(d.place)
	d.out.WriteString(field)
	d.out.Write(rest)
}

func (d *reducer) write(line []byte) {
	if d.out.Len()+len(line) <= keptAll+(1<<20) { // delimiters and headers have room beyond the texts
		d.out.Write(line)
	}
}
