package strangers_test

import (
	"bytes"
	"time"
)

// attack sends an answer that a client must not read to its end.
type attack struct {
	name string
	send func(c *conn)
}

// most is how much an attack sends at most; a client that reads as much has no bound.
const most = 1 << 30

// endless sends a beginning, and then the text again and again.
func endless(name, begin, text string) attack {
	chunk := bytes.Repeat([]byte(text), 1+(16<<10)/len(text))
	return attack{name, func(c *conn) {
		if _, err := c.Write([]byte(begin)); err != nil {
			return
		}
		for n := 0; n < most; n += len(chunk) {
			if _, err := c.Write(chunk); err != nil {
				return
			}
		}
	}}
}

// dripping sends a beginning, and then one byte each 100 ms.
func dripping(name, begin, text string) attack {
	return attack{name, func(c *conn) {
		if _, err := c.Write([]byte(begin)); err != nil {
			return
		}
		for n := 0; ; n++ {
			select {
			case <-c.server.quit:
				return
			case <-time.After(100 * time.Millisecond):
			}
			if _, err := c.Write([]byte{text[n%len(text)]}); err != nil {
				return
			}
		}
	}}
}

// silent sends a beginning, and nothing more.
func silent(name, begin string) attack {
	return attack{name, func(c *conn) {
		_, _ = c.Write([]byte(begin))
		buf := make([]byte, 1024)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
		}
	}}
}
