package strangers

import (
	"bufio"
	"crypto/tls"
	"strings"
)

// IMAPPhases are the commands whose answers a server attacks with. BODY is FETCH of a whole mail.
var IMAPPhases = []string{
	"greeting", "STARTTLS", "CAPABILITY", "AUTHENTICATE", "EXAMINE", "LIST", "SEARCH", "FETCH", "BODY",
}

// IMAP is SMTP for a server whose inbox has three mails.
func IMAP(phase, way string, secure *tls.Config, a Attack) func(*Conn) {
	return func(c *Conn) {
		if way == TLS {
			c = c.encrypted(secure)
		}
		defer func() { _ = c.Close() }()
		if !greet(c, phase, "* OK ready", a) {
			return
		}
		for lines := bufio.NewReader(c); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			tag, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			word := strings.TrimPrefix(rest, "UID ")
			word, _, _ = strings.Cut(word, " ")
			if word == "FETCH" && strings.Contains(rest, "BODY.PEEK") {
				word = "BODY"
			}
			if word == phase {
				a.Send(c)
				return
			}
			switch word {
			case "CAPABILITY":
				sayLines(c, "* CAPABILITY IMAP4rev1 STARTTLS AUTH=PLAIN SASL-IR")
			case "EXAMINE":
				sayLines(c, "* 3 EXISTS", "* OK [UIDVALIDITY 1] x", "* OK [UIDNEXT 9] x")
			case "SEARCH":
				sayLines(c, "* SEARCH 5 6 7")
			}
			sayLines(c, tag+" OK done")
			if word == "STARTTLS" {
				c = c.encrypted(secure)
				lines = bufio.NewReader(c)
			}
		}
	}
}
