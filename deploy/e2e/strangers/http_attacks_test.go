package strangers_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// talkHTTP returns a server that answers each request with the attack.
func talkHTTP(a attack) func(*conn) {
	return func(c *conn) {
		defer func() { _ = c.Close() }()
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, io.LimitReader(r.Body, most)); err != nil {
			return
		}
		a.send(c)
	}
}

// httpAttacks returns the attacks on the reader of a response with the status.
func httpAttacks(status int) []attack {
	line := fmt.Sprintf("HTTP/1.1 %d x\r\n", status)
	head := line + "Content-Type: application/json\r\n"
	zipped := string(bomb())
	return []attack{
		endless("an endless status line", strings.TrimSuffix(line, "\r\n"), "x"),
		endless("an endless field", head+"X: ", "x"),
		endless("endless fields", head, "X: y\r\n"),
		endless("endless interim responses", "", "HTTP/1.1 103 x\r\nLink: </a>\r\n\r\n"),
		endless("an endless body", head+"\r\n{\"data\":\"", "x"),
		endless("a huge body", head+"Content-Length: 10000000000\r\n\r\n{\"data\":\"", "x"),
		endless("endless chunks", head+"Transfer-Encoding: chunked\r\n\r\n", "4\r\n[[[[\r\n"),
		endless("an endless size of a chunk", head+"Transfer-Encoding: chunked\r\n\r\n1;x=", "x"),
		endless("an endless trailer", head+"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", "X: y\r\n"),
		endless("a bomb of gzip", head+"Content-Encoding: gzip\r\n\r\n", zipped),
		dripping("a dripping field", head+"X: ", "x"),
		dripping("a dripping body", head+"\r\n{\"data\":\"", "x"),
		dripping("dripping interim responses", "", "HTTP/1.1 103 x\r\n\r\n"),
		silent("silence", ""),
		silent("silence after the header", head+"\r\n"),
	}
}

// bomb returns 16 MiB of zeros in 16 KiB. A reader of gzip takes bombs in a row for one text.
func bomb() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(make([]byte, 16<<20))
	_ = w.Close()
	return b.Bytes()
}
