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
			c = c.encrypted(secure)
		}
		defer func() { _ = c.Close() }()
		if !greet(c, phase, "220 test ready", a) {
			return
		}
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
				sayLines(c, "250-test", "250-STARTTLS", "250 AUTH PLAIN")
			case "STARTTLS":
				sayLines(c, "220 go on")
				c = c.encrypted(secure)
				lines = bufio.NewReader(c)
			case "DATA":
				sayLines(c, "354 go on")
			case "AUTH":
				sayLines(c, "235 welcome")
			default:
				sayLines(c, "250 2.0.0 fine")
			}
		}
	}
}

// greet sends the greeting, or attacks in its place. It reports whether the session goes on.
func greet(c *Conn, phase, greeting string, a Attack) bool {
	if phase == "greeting" {
		a.Send(c)
		return false
	}
	sayLines(c, greeting)
	return true
}

// sayLines sends lines.
func sayLines(w io.Writer, lines ...string) {
	_, _ = io.WriteString(w, strings.Join(lines, "\r\n")+"\r\n")
}
