package strangers

import (
	"bufio"
	"io"
	"net/http"
)

// HTTP returns a server that answers each request with the attack.
func HTTP(a Attack) func(*Conn) {
	return func(c *Conn) {
		defer func() { _ = c.Close() }()
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, io.LimitReader(r.Body, Most)); err != nil {
			return
		}
		a.Send(c)
	}
}
