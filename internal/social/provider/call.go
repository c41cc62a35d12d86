package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
)

// maxAnswer is how much of an answer is read; one that is longer is no answer.
const maxAnswer = 1 << 20

// Op is what a request was for.
type Op string

// The ops.
const (
	Exchanging Op = "exchange"
	Renewing   Op = "refresh"
	Asking     Op = "api"
	Revoking   Op = "revoke"
)

// spends tells whether the request may have used up a code or a token.
func (o Op) spends() bool { return o == Exchanging || o == Renewing }

// Reply is an answer as it came.
type Reply struct {
	Op     Op
	Status int
	Header http.Header
	Body   []byte
}

// ask is one request.
type ask struct {
	op      Op
	method  string
	address string     // the provider's own
	query   url.Values // added to the address
	form    url.Values // sent as the body
	json    any        // sent as the body
	header  http.Header
	bearer  Secret
	basic   bool // the client authenticates in the header
}

// send makes one request and reads the answer to its end. Its error is always an *Error.
func (p *Provider) send(ctx context.Context, a ask) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	var sent atomic.Bool
	_, ours := p.http.Transport.(*http.Transport)
	sent.Store(!ours) // another carrier may not tell: it may have been sent
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	req, err := p.request(ctx, a)
	if err != nil {
		return Reply{}, &Error{Class: Misconfigured, Platform: p.Platform, Code: "address"}
	}
	res, err := p.http.Do(req)
	if err != nil {
		return Reply{}, p.broken(a.op, err, sent.Load())
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return Reply{}, p.broken(a.op, err, true)
	}
	r := Reply{Op: a.op, Status: res.StatusCode, Header: res.Header, Body: body}
	if len(body) > maxAnswer {
		return r, p.unusable(r, "too_long")
	}
	return r, p.judge(r, a)
}

func (p *Provider) request(ctx context.Context, a ask) (*http.Request, error) {
	u, err := url.Parse(p.at(a.address))
	if err != nil {
		return nil, err
	}
	if len(a.query) > 0 {
		q := u.Query()
		for key, values := range a.query {
			q[key] = values
		}
		u.RawQuery = q.Encode()
	}
	var body io.Reader
	kind := ""
	switch {
	case a.json != nil:
		raw, err := json.Marshal(a.json)
		if err != nil {
			return nil, err
		}
		body, kind = bytes.NewReader(raw), "application/json"
	case a.form != nil:
		body, kind = strings.NewReader(a.form.Encode()), "application/x-www-form-urlencoded"
	}
	req, err := http.NewRequestWithContext(ctx, a.method, u.String(), body)
	if err != nil {
		return nil, err
	}
	for key, values := range a.header {
		req.Header[key] = values
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "Funnelwork/1")
	if a.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+a.bearer.Reveal())
	}
	if a.basic {
		req.SetBasicAuth(url.QueryEscape(p.app.ClientID), url.QueryEscape(p.app.ClientSecret.Reveal()))
	}
	return req, nil
}

// broken is a request to which no whole answer came. The cause stays here: it may quote the address.
func (p *Provider) broken(op Op, err error, sent bool) *Error {
	e := &Error{Class: Transient, Platform: p.Platform, Code: "connection"}
	var timeout net.Error
	var dial *net.OpError
	var name *net.DNSError
	switch {
	case errors.As(err, &name):
		e.Code, sent = "dns", false
	case errors.As(err, &dial) && dial.Op == "dial":
		e.Code, sent = "dial", false
	case errors.Is(err, context.Canceled):
		e.Code = "cancelled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		e.Code = "timeout"
	}
	if sent && op.spends() {
		e.Class = Unknown
	}
	return e
}

// unusable is an answer that says nothing about what was done.
func (p *Provider) unusable(r Reply, why string) *Error {
	e := &Error{Class: Transient, Platform: p.Platform, Code: why, Status: r.Status}
	if r.Op.spends() {
		e.Class = Unknown
	}
	return e
}

// Get asks an API of the provider with t and reads the JSON of the answer into into.
func (p *Provider) Get(ctx context.Context, t Token, address string, query url.Values, header http.Header, into any) error {
	return p.read(ctx, ask{op: Asking, method: http.MethodGet, address: address, query: query, header: header, bearer: t.Access}, into)
}

// read sends a and reads the JSON of the answer.
func (p *Provider) read(ctx context.Context, a ask, into any) error {
	r, err := p.send(ctx, a)
	if err != nil {
		return err
	}
	if json.Unmarshal(r.Body, into) != nil {
		return p.unusable(r, "not_json")
	}
	return nil
}
