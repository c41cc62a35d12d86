// Package inprocess carries HTTP requests to a handler of the same process: a sandbox is called as what it stands for is,
// without a network.
package inprocess

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// Transport is an http.RoundTripper that speaks with Handler, whatever the host of the URL. A caller that goes away
// leaves the work to its end, as on a network; a handler that aborts (http.ErrAbortHandler) is io.ErrUnexpectedEOF.
// Calls counts the work that goes on; whoever closes the handler waits for it.
type Transport struct {
	Handler http.Handler
	Calls   *sync.WaitGroup
}

// RoundTrip is http.RoundTripper's.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	done := make(chan *http.Response, 1)
	in := r.Clone(r.Context())
	in.RequestURI = in.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	t.Calls.Add(1)
	go func() {
		defer t.Calls.Done()
		defer close(done)
		rec := &recorder{header: http.Header{}, status: http.StatusOK}
		defer func() {
			if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // a panic's value, by identity as net/http compares it
				panic(v)
			}
		}()
		t.Handler.ServeHTTP(rec, in)
		done <- &http.Response{
			Status: http.StatusText(rec.status), StatusCode: rec.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: rec.header, Body: io.NopCloser(&rec.body), ContentLength: int64(rec.body.Len()), Request: r,
		}
	}()
	select {
	case res, ok := <-done:
		if !ok {
			return nil, io.ErrUnexpectedEOF
		}
		return res, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// recorder keeps an answer. httptest's does the same, but production code has no business with it.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
