package outbound

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// maxResponseHeader bounds the header of a response, in bytes.
const maxResponseHeader = 64 << 10

// NewTransport returns a transport for servers that are not trusted, such as a provider's. proxy is as in
// http.Transport.
//
// It speaks HTTP/1.1 only: with HTTP/2, a server may send 4 MiB of each response, and much of its header, before the
// client has read a byte. It does not ask for compressed responses, so that a response takes no more memory than the
// network has brought.
func NewTransport(proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	d := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy: proxy, DialContext: d.DialContext,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: 10 * time.Second,
		DisableCompression: true, MaxResponseHeaderBytes: maxResponseHeader,
		MaxIdleConns: 100, MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second,
		ExpectContinueTimeout: time.Second,
		TLSNextProto:          map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
}

// BoundBodies returns a transport whose responses have at most as many bytes as limit returns. For a client that reads
// them whole. Reading beyond the limit fails with ErrTooMuch, as does a request whose response announces more.
func BoundBodies(next http.RoundTripper, limit func(*http.Response) int64) http.RoundTripper {
	return &boundBodies{next, limit}
}

type boundBodies struct {
	next  http.RoundTripper
	limit func(*http.Response) int64
}

// RoundTrip implements http.RoundTripper.
func (b *boundBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err != nil || res.Body == nil || res.StatusCode == http.StatusSwitchingProtocols {
		return res, err
	}
	limit := b.limit(res)
	if r.Method != http.MethodHead && res.ContentLength > limit {
		_ = res.Body.Close()
		return nil, fmt.Errorf("%w: %d bytes", ErrTooMuch, res.ContentLength)
	}
	res.Body = &boundBody{res.Body, limit}
	return res, nil
}

// CloseIdleConnections implements the optional interface of http.Client.
func (b *boundBodies) CloseIdleConnections() {
	if c, ok := b.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

type boundBody struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader. It reads one byte more than is left to know whether there is one.
func (b *boundBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooMuch
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrTooMuch
	}
	return n, err
}
