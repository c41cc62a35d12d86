package listener

import (
	"bytes"
	"errors"
	"io"

	"github.com/emersion/go-smtp"
)

// chunk is how many bytes of a mail are counted at once.
const chunk = 64 << 10

// readMail reads a mail whole. The mails that are read at once take at most maxMemory; one above that is refused for
// now. release must be called when the mail is no longer needed, also after an error.
func (s *Server) readMail(r io.Reader) (raw []byte, release func(), err error) {
	var (
		out   bytes.Buffer
		taken int64
	)
	release = func() { s.memory.Add(-taken) }
	for {
		taken += chunk
		if s.memory.Add(chunk) > maxMemory {
			s.Metrics.count("memory")
			return nil, release, &smtp.SMTPError{
				Code: 452, EnhancedCode: smtp.EnhancedCode{4, 3, 1}, Message: "Too many mails at once, try again later",
			}
		}
		n, err := io.CopyN(&out, r, chunk)
		switch {
		case errors.Is(err, io.EOF):
			return out.Bytes(), release, nil
		case err != nil:
			return nil, release, err
		case n < chunk:
			return out.Bytes(), release, nil
		}
	}
}
