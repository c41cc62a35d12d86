package strangers_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"

	"github.com/funnelwork/funnelwork/internal/testkit/strangers"
)

// httpAttacks returns the attacks on the reader of a response with the status.
func httpAttacks(status int) []strangers.Attack {
	line := fmt.Sprintf("HTTP/1.1 %d x\r\n", status)
	head := line + "Content-Type: application/json\r\n"
	zipped := string(bomb())
	return []strangers.Attack{
		strangers.Endless("an endless status line", strings.TrimSuffix(line, "\r\n"), "x"),
		strangers.Endless("an endless field", head+"X: ", "x"),
		strangers.Endless("endless fields", head, "X: y\r\n"),
		strangers.Endless("endless interim responses", "", "HTTP/1.1 103 x\r\nLink: </a>\r\n\r\n"),
		strangers.Endless("an endless body", head+"\r\n{\"data\":\"", "x"),
		strangers.Endless("a huge body", head+"Content-Length: 10000000000\r\n\r\n{\"data\":\"", "x"),
		strangers.Endless("endless chunks", head+"Transfer-Encoding: chunked\r\n\r\n", "4\r\n[[[[\r\n"),
		strangers.Endless("an endless size of a chunk", head+"Transfer-Encoding: chunked\r\n\r\n1;x=", "x"),
		strangers.Endless("an endless trailer", head+"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", "X: y\r\n"),
		strangers.Endless("a bomb of gzip", head+"Content-Encoding: gzip\r\n\r\n", zipped),
		strangers.Dripping("a dripping field", head+"X: ", "x"),
		strangers.Dripping("a dripping body", head+"\r\n{\"data\":\"", "x"),
		strangers.Dripping("dripping interim responses", "", "HTTP/1.1 103 x\r\n\r\n"),
		strangers.Silent("silence", ""),
		strangers.Silent("silence after the header", head+"\r\n"),
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
