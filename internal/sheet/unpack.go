package sheet

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// maxUnpacked is the maximum size of a decompressed file, which is also the maximum of one that is not compressed.
const maxUnpacked = 512 << 20

// unpacked returns the content of a file, decompressed if need be, and its kind.
func unpacked(from io.Reader) (*bufio.Reader, string, error) {
	in := bufio.NewReaderSize(from, peek)
	kind, err := peekKind(in)
	if err != nil || kind != kindGzip {
		return in, kind, err
	}

	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, "", badArchive(err)
	}

	in = bufio.NewReaderSize(&boundedReader{from: z, left: maxUnpacked}, peek)
	if kind, err = peekKind(in); err == nil && kind == kindGzip {
		err = otherKind("a gzip archive inside another one")
	}

	return in, kind, err
}

func peekKind(in *bufio.Reader) (string, error) {
	start, err := in.Peek(1024)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return kindOf(start)
}

// boundedReader reads decompressed data and fails if there is more than left. An archive that is broken is a validation
// fault.
type boundedReader struct {
	from io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, WrongFile("too_large", fmt.Sprintf("The file has more than %d MiB when it is decompressed.",
			maxUnpacked>>20))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = badArchive(err)
	}
	return n, err
}

// badArchive returns the fault for an archive that ends early or is damaged. Another error is of the connection.
func badArchive(err error) error {
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, io.EOF) || isFlateError(err) {
		return WrongFile("damaged_file", "The compressed file ends early or is damaged.")
	}
	return err
}

func isFlateError(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	_, internal := errors.AsType[flate.InternalError](err)
	return corrupt || internal
}

// source is the text of a file.
type source struct {
	in        *bufio.Reader
	encoding  string
	delimiter string          // "": as wanted, or else detected
	leftOut   []OmittedColumn // what the text lacks of the file
	close     func()          // nil: nothing to release
}

// OmittedColumn is a column of a file that is not read, and the reason.
type OmittedColumn struct {
	Column string `json:"column" doc:"Name in the header, as shown in mapping"`
	Reason string `json:"reason" doc:"Why it is not read, for programs"`
}

// sourceOf returns the text of a file of any kind that is read.
func sourceOf(from io.Reader, o Options) (source, error) {
	in, kind, err := unpacked(from)
	if err != nil {
		return source{}, err
	}
	if kind == kindZip {
		return workbookSource(in)
	}

	encoding, _ := encodingOf(o.Encoding) // checked
	src := source{}
	src.in, src.encoding = decoded(in, encoding)
	start, _ := src.in.Peek(1024) // a failing source fails again when it is read
	if kind, err = textKind(string(start)); err != nil {
		return source{}, err
	}
	if kind == kindVCard {
		return cardSource(&lineReader{in: src.in, windows: src.encoding == Windows1252}, src.encoding)
	}

	return src, nil
}
