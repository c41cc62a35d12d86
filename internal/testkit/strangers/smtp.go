package strangers

import (
	"bufio"
	"crypto/tls"
	"io"
	"strings"
)

// Ways to secure a connection, as mailboxes name them.
const (
	None     = "none"
	StartTLS = "starttls"
	TLS      = "tls"
)

// Ways are all of them.
var Ways = []string{None, StartTLS, TLS}

// SMTPPhases are the replies that a server of mail attacks with.
var SMTPPhases = []string{"greeting", "EHLO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA", "."}

// SMTP returns a server that replies as it should until the phase, and then attacks. secure is the configuration of
// a server with TLS, and way how the client comes to it.
func SMTP(phase, way string, secure *tls.Config, a Attack) func(*Conn) {
	return func(c *Conn) {
		if way == TLS {
			c = &Conn{tls.Server(c.Conn, secure), c.server}
		}
		defer func() { _ = c.Close() }()
		if phase == "greeting" {
			a.Send(c)
			return
		}
		say(c, "220 test ready")
		lines := bufio.NewReader(c)
		for data := false; ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if data && word != "." {
				continue
			}
			_, encrypted := c.Conn.(*tls.Conn)
			if word == phase && (way == None || word == "STARTTLS" || encrypted) {
				a.Send(c)
				return
			}
			data = word == "DATA"
			switch word {
			case "EHLO":
				say(c, "250-test", "250-STARTTLS", "250 AUTH PLAIN")
			case "STARTTLS":
				say(c, "220 go on")
				c = &Conn{tls.Server(c.Conn, secure), c.server}
				lines = bufio.NewReader(c)
			case "DATA":
				say(c, "354 go on")
			case "AUTH":
				say(c, "235 welcome")
			default:
				say(c, "250 2.0.0 fine")
			}
		}
	}
}

func say(w io.Writer, lines ...string) { _, _ = io.WriteString(w, strings.Join(lines, "\r\n")+"\r\n") }
