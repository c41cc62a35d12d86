package provider_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// via returns X with the given transport.
func via(t *testing.T, base string, carrier http.RoundTripper) *provider.Provider {
	t.Helper()
	app := provider.App{ClientID: "id", ClientSecret: planted + "-secret", Base: base}
	if carrier != nil {
		app.HTTP = &http.Client{Transport: carrier}
	}
	p, err := provider.New(provider.Options{Apps: map[string]provider.App{"x": app, "facebook": app}}).Get("x")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestALineThatBreaksIsTransientBeforeTheRequestLeftAndUnknownAfter: the difference decides whether a single-use token
// may be spent.
func TestALineThatBreaksIsTransientBeforeTheRequestLeftAndUnknownAfter(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	cut := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(cut.Close)
	half := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, `{"access_token":"`+planted)
	}))
	t.Cleanup(half.Close)
	long := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte(" "), 2<<20))
	}))
	t.Cleanup(long.Close)
	plain := httptest.NewServer(http.NotFoundHandler()) // does not support TLS
	t.Cleanup(plain.Close)
	for name, c := range map[string]struct {
		base       string
		class      provider.Class
		code, read string // read: the code of a read, which is transient
	}{
		"nobody listens":     {closed.URL, later, "dial", "dial"},
		"no such host":       {"http://no-such-host.invalid", later, "dns", "dns"},
		"no TLS there":       {strings.Replace(plain.URL, "http:", "https:", 1), later, "connection", "connection"},
		"no answer":          {cut.URL, lost, "connection", "connection"},
		"half of an answer":  {half.URL, lost, "connection", "connection"},
		"an endless answer":  {long.URL, lost, "too_long", "too_long"},
		"an address no more": {"http://%zz", ours, "address", "address"},
	} {
		p := via(t, c.base, nil)
		for op, want := range map[provider.Op]struct {
			class provider.Class
			code  string
		}{
			re: {c.class, c.code}, ex: {c.class, c.code},
			api: {map[bool]provider.Class{true: ours, false: later}[c.class == ours], c.read},
		} {
			err := call(t, p, op)
			var e *provider.Error
			if !errors.As(err, &e) {
				t.Errorf("%s, %s: %v, want %+v", name, op, err, want)
				continue
			}
			if e.Class != want.class || e.Code != want.code {
				t.Errorf("%s, %s: class %s, code %s; want %s, %s", name, op, e.Class, e.Code, want.class, want.code)
			}
			if shown := fmt.Sprintf("%v %#v", err, e); strings.Contains(shown, planted) {
				t.Errorf("%s, %s: a secret is shown: %s", name, op, shown)
			}
		}
	}
}

// carrier is a function that implements http.RoundTripper.
type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

func TestAProviderThatHangsIsGivenUpInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := via(t, "", carrier(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}))
		for op, want := range map[provider.Op]struct {
			class provider.Class
			in    time.Duration
		}{re: {lost, provider.CallTime}, ex: {lost, provider.CallTime}, api: {later, provider.CallTime}} {
			before := time.Now()
			err := call(t, p, op)
			if provider.ClassOf(err) != want.class || time.Since(before) != want.in {
				t.Errorf("%s: %v after %v", op, err, time.Since(before))
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Refresh(ctx, provider.Token{Refresh: planted}); provider.ClassOf(err) != lost {
			t.Errorf("a caller that goes away: %v", err)
		}
	})
}

// TestNothingIsAskedTwice: whatever the response, one Refresh is one request, to one address.
func TestNothingIsAskedTwice(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		status int
		header string
	}{
		{200, ""},
		{301, "/again"},
		{307, "/again"},
		{308, "/again"},
		{401, ""},
		{429, ""},
		{500, ""},
		{503, ""},
		{0, ""},
	} {
		asked := 0
		apps := map[string]provider.App{}
		for _, f := range provider.Families() {
			apps[f] = provider.App{ClientID: "id", ClientSecret: "secret"}
		}
		set := provider.New(provider.Options{
			Apps: apps,
			HTTP: &http.Client{Transport: carrier(func(r *http.Request) (*http.Response, error) {
				asked++
				if s.status == 0 {
					return nil, io.EOF
				}
				return &http.Response{
					StatusCode: s.status, Header: http.Header{"Location": {s.header}},
					Body: io.NopCloser(strings.NewReader("{}")), Request: r,
				}, nil
			})},
		})
		for _, p := range set.All() {
			if p.Renewal == provider.NoRenewal {
				continue
			}
			asked = 0
			if err := call(t, p, re); err == nil || asked != 1 {
				t.Errorf("%s answered %d: asked %d times, %v", p.Platform, s.status, asked, err)
			}
		}
	}
}

// TestNoLogOrErrorShowsASecret makes every request fail at the network level, where net/http's own errors quote
// addresses.
func TestNoLogOrErrorShowsASecret(t *testing.T) {
	t.Parallel()
	apps := map[string]provider.App{}
	for _, f := range provider.Families() {
		apps[f] = provider.App{ClientID: "id", ClientSecret: planted + "-secret"}
	}
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	secrets := 0
	for _, broken := range []error{
		io.ErrUnexpectedEOF, &net.OpError{Op: "dial", Err: errors.New("refused")},
		errors.New("a carrier that quotes " + planted),
	} {
		set := provider.New(provider.Options{
			Apps: apps,
			HTTP: &http.Client{Transport: carrier(func(r *http.Request) (*http.Response, error) {
				if strings.Contains(r.URL.String(), planted) {
					secrets++
				}
				return nil, broken
			})},
		})
		for _, p := range set.All() {
			for _, op := range []provider.Op{ex, re, api, rev} {
				if err := call(t, p, op); err != nil {
					logger.ErrorContext(t.Context(), "refused", "error", err, "platform", p.Platform)
					fmt.Fprintf(&log, "%v %+v %#v\n", err, err, err)
					for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
						fmt.Fprintf(&log, "%v\n", cause)
					}
				}
			}
			logger.InfoContext(t.Context(), "provider", "is", p)
		}
	}
	if secrets == 0 || log.Len() < 1000 {
		t.Fatal("no address had a secret, or nothing was logged: the test shows nothing")
	}
	if at := strings.Index(log.String(), planted); at >= 0 {
		t.Errorf("a secret is shown: %s", log.String()[max(0, at-200):at+40])
	}
}
