// Package inprocess sends HTTP requests to a handler in the same process, so that a sandbox is called like the service
// it replaces, without a network.
package inprocess

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// Transport is an http.RoundTripper that calls Handler, whatever the host of the URL. If the caller cancels, the
// handler still finishes, as over a network. If the handler aborts with http.ErrAbortHandler, the error is
// io.ErrUnexpectedEOF. Calls counts the running handlers; wait for it before closing the handler.
type Transport struct {
	Handler http.Handler
	Calls   *sync.WaitGroup
}

// RoundTrip implements http.RoundTripper.
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
			if v := recover(); v != nil &&
				v != http.ErrAbortHandler { //nolint:errorlint // a panic's value, by identity as net/http compares it
				panic(v)
			}
		}()
		t.Handler.ServeHTTP(rec, in)
		done <- &http.Response{
			Status: http.StatusText(rec.status), StatusCode: rec.status, Proto: "HTTP/1.1", ProtoMajor: 1,
			ProtoMinor: 1,
			Header:     rec.header, Body: io.NopCloser(&rec.body), ContentLength: int64(rec.body.Len()), Request: r,
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

// recorder records a response. It replaces httptest's recorder, which production code should not import.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
