package strangers

import (
	"bytes"
	"time"
)

// Attack sends an answer that a client must not read to its end.
type Attack struct {
	Name string
	Send func(c *Conn)
}

// Most is how much an attack sends at Most; in bytes; a client that reads as much has no bound.
const Most = 1 << 30

// Endless sends a beginning, and then the text again and again.
func Endless(name, begin, text string) Attack {
	chunk := bytes.Repeat([]byte(text), 1+(16<<10)/len(text))
	return Attack{name, func(c *Conn) {
		if _, err := c.Write([]byte(begin)); err != nil {
			return
		}
		for n := 0; n < Most; n += len(chunk) {
			if _, err := c.Write(chunk); err != nil {
				return
			}
		}
	}}
}

// Dripping sends a beginning, and then one byte each 100 ms.
func Dripping(name, begin, text string) Attack {
	return Attack{name, func(c *Conn) {
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

// Silent sends a beginning, and nothing more.
func Silent(name, begin string) Attack {
	return Attack{name, func(c *Conn) {
		_, _ = c.Write([]byte(begin))
		buf := make([]byte, 1024)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
		}
	}}
}
