package oauth

import (
	"bytes"
	"io"
	"net/http"
)

// Transport carries requests into the sandbox without a network. A caller that goes away does not undo what was begun;
// an answer that a fault drops is io.ErrUnexpectedEOF.
func (s *Sandbox) Transport() http.RoundTripper { return transport{s} }

type transport struct{ s *Sandbox }

// RoundTrip is http.RoundTripper's.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	done := make(chan *http.Response, 1)
	in := r.Clone(r.Context())
	in.RequestURI = in.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	t.s.calls.Add(1)
	go func() {
		defer t.s.calls.Done()
		defer close(done)
		rec := &recorder{header: http.Header{}, status: http.StatusOK}
		defer func() {
			if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // a panic's value, by identity as net/http compares it
				panic(v)
			}
		}()
		t.s.routes.ServeHTTP(rec, in)
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

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
