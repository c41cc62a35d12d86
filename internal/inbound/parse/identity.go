package parse

import (
	"bytes"
	"io"
)

// SoleMessageID returns the Message-ID of a mail whose header has exactly one, without angle brackets, or else "", and
// whether the whole header was read. It reads the header alone. A header beyond a limit may have a Message-ID that was
// not read.
func SoleMessageID(raw []byte) (messageID string, whole bool) {
	r := reader{mail: &Mail{}}
	h, _ := r.split(raw)
	return h.soleMessageID(), !r.mail.Cut
}

// Essence writes what its author has put into a mail: some fields of the header, and the body with line ends of one
// byte. The fields that servers add on the way, and the line ends that they change, are left out. The header must have
// been read whole, see SoleMessageID.
func Essence(w io.Writer, raw []byte) {
	r := reader{mail: &Mail{}}
	h, body := r.split(raw)
	for _, name := range []string{"From", "To", "Date", "Subject"} {
		_, _ = io.WriteString(w, h.Get(name)+"\x00") // a hash never fails
	}
	for _, value := range h.All("Message-ID") { // several, or one that is too long
		if value != "" {
			_, _ = io.WriteString(w, value+"\x00")
		}
	}
	for body = bytes.TrimRight(body, "\r\n"); len(body) > 0; {
		var line []byte
		line, body = cutLine(body)
		_, _ = w.Write(line)
		_, _ = w.Write([]byte{'\n'})
	}
}
