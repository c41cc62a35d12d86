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

	"github.com/funnelwork/funnelwork/internal/oauth1"
)

// The largest responses that are accepted, in bytes; a longer one counts as unusable. A page of an API has up to 500
// accounts.
const (
	maxAnswer      = 512 << 10
	maxTokenAnswer = 64 << 10
)

// Op is the purpose of a request.
type Op string

// The ops.
const (
	Requesting Op = "request" // an OAuth 1.0a request token
	Exchanging Op = "exchange"
	Renewing   Op = "refresh"
	Asking     Op = "api"
	Revoking   Op = "revoke"
)

// spends reports whether the request may have used up a code or a token.
func (o Op) spends() bool { return o == Exchanging || o == Renewing }

// maxAnswer returns the largest response that is accepted.
func (o Op) maxAnswer() int {
	if o == Asking {
		return maxAnswer
	}
	return maxTokenAnswer
}

// Reply is a raw response.
type Reply struct {
	Op     Op
	Status int
	Header http.Header
	Body   []byte
}

// ask describes one request.
type ask struct {
	op      Op
	method  string
	address string     // at the provider, before App.Base applies
	query   url.Values // appended to the address
	form    url.Values // sent as the body
	json    any        // sent as the body
	header  http.Header
	bearer  Secret
	basic   bool           // authenticate the client in the header
	signer  *oauth1.Signer // for OAuth 1.0a; nil: unsigned
	signed  []oauth1.Param // further protocol parameters to sign
}

// send makes one request and reads the whole response. Its error is always an *Error.
func (p *Provider) send(ctx context.Context, a ask) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	var sent atomic.Bool
	_, ours := p.http.Transport.(*http.Transport)
	sent.Store(!ours) // another transport may not report it: assume it was sent
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
	body, err := io.ReadAll(io.LimitReader(res.Body, int64(a.op.maxAnswer())+1))
	if err != nil {
		return Reply{}, p.broken(a.op, err, true)
	}
	r := Reply{Op: a.op, Status: res.StatusCode, Header: res.Header, Body: body}
	if len(body) > a.op.maxAnswer() {
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
	if a.signer != nil {
		own, err := url.Parse(p.versioned(a.address))
		if err != nil {
			return nil, err
		}
		own.RawQuery = u.RawQuery
		req.Header.Set("Authorization", a.signer.Header(a.method, own, a.form, a.signed...))
	}
	return req, nil
}

// secrets returns the parts of the request that no error may show.
func (a ask) secrets(client Secret) []Secret {
	all := []Secret{client, a.bearer, Secret(a.form.Get("refresh_token")), Secret(a.form.Get("code"))}
	if a.signer != nil {
		all = append(all, Secret(a.signer.Token), Secret(a.signer.TokenSecret))
		for _, p := range a.signed {
			all = append(all, Secret(p.Value))
		}
	}
	return all
}

// broken returns the error of a request without a complete response. The cause is not wrapped, since it may quote the
// address.
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

// unusable returns the error of a response that does not state whether the request was carried out.
func (p *Provider) unusable(r Reply, why string) *Error {
	e := &Error{Class: Transient, Platform: p.Platform, Code: why, Status: r.Status}
	if r.Op.spends() {
		e.Class = Unknown
	}
	return e
}

// Get sends a GET request with t to an API of the provider and decodes the JSON response into into.
func (p *Provider) Get(ctx context.Context, t Token, address string, query url.Values, header http.Header,
	into any,
) error {
	return p.read(ctx,
		ask{op: Asking, method: http.MethodGet, address: address, query: query, header: header, bearer: t.Access}, into)
}

// read sends a and decodes the JSON response.
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
