package ai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/funnelwork/funnelwork/internal/outbound"
)

const (
	openAI      = "https://api.openai.com/v1"
	temperature = 0.2
	// maxResponse is the longest response that is read, in bytes. The longest reply has a few thousand.
	maxResponse = 256 << 10
	// callTime bounds a call whose caller has more time.
	callTime = 2 * time.Minute
	// maxRetryAfter bounds the wait that a provider may ask for, in seconds.
	maxRetryAfter = 3600
)

// Options configure the connection to a provider.
type Options struct {
	Key, Model string
	URL        string       // of an OpenAI-compatible API, with its version; "": OpenAI's
	HTTP       *http.Client // nil: a client whose requests have callTime
}

// Client is a Provider for any server that implements OpenAI's chat completions. It is safe for concurrent use.
//
// It implements that one endpoint with net/http: OpenAI's own client covers a hundred endpoints and takes longer to
// compile than the rest of the service.
type Client struct {
	http       http.Client
	url        string
	key, model string

	mu      sync.Mutex
	takes   dialect // what the server is known to accept
	trouble Trouble
}

// Open returns a client. It repeats a request only once, and in another form: if the server does not know a part of it,
// or cuts the reply off because the model has spent the tokens on reasoning. What succeeded then is remembered. It
// follows a redirect only to the same host, because the request carries the key.
func Open(o Options) *Client {
	c := &Client{
		url: strings.TrimSuffix(cmp.Or(o.URL, openAI), "/") + "/chat/completions",
		key: o.Key, model: o.Model, takes: common(),
	}
	if o.HTTP != nil {
		c.http = *o.HTTP
	} else {
		c.http = http.Client{Transport: outbound.NewTransport(http.ProxyFromEnvironment), Timeout: callTime}
	}

	c.http.CheckRedirect = sameOrigin

	return c
}

func sameOrigin(r *http.Request, via []*http.Request) error {
	if first := via[0].URL; r.URL.Scheme != first.Scheme || r.URL.Host != first.Host {
		return errors.New("redirect to another host")
	}
	if len(via) >= 10 {
		return errors.New("too many redirects")
	}
	return nil
}

// Complete sends call, and once more in another form if the server does not take the first one.
func (c *Client) Complete(ctx context.Context, call Call) (Reply, error) {
	c.mu.Lock()
	takes := c.takes
	c.mu.Unlock()

	reply, err := c.try(ctx, takes, &call)
	if next, ok := takes.after(err); ok && ctx.Err() == nil {
		var again Reply
		if again, err = c.try(ctx, next, &call); err == nil {
			c.learn(next)
			reply = again
		}
	}
	if err == nil {
		c.recordAnswer()
		return reply, nil
	}

	u := c.unavailable(ctx, err, &call)
	c.recordTrouble(u)

	return Reply{}, u
}

// after returns the dialect to try after the error of a request, and reports whether there is one.
func (d dialect) after(err error) (dialect, bool) {
	if e, ok := errors.AsType[*refusedError](err); ok && e.mayAdapt() {
		if next, other := d.adapt(e.serverError); other {
			return next, true
		}
		if next := d.lenient(); e.isUnclear() && next != d {
			return next, true
		}
	}
	if cut, ok := errors.AsType[*cutError](err); ok && cut.reasoned && d.headroom == 0 && d.tokens != "" {
		d.headroom = reasoningRoom
		return d, true
	}
	return d, false
}

// learn remembers what the server has accepted.
func (c *Client) learn(d dialect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.takes = d
}

// refusedError is a response with an error status, as an error.
type refusedError struct{ *serverError }

func (e *refusedError) Error() string { return fmt.Sprintf("status %d", e.status) }

// try sends one request.
func (c *Client) try(ctx context.Context, d dialect, call *Call) (Reply, error) {
	body, err := json.Marshal(d.request(c.model, *call))
	if err != nil {
		return Reply{}, fmt.Errorf("encode request: %w", err)
	}

	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}

	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Funnelwork/1")
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}

	response, err := c.http.Do(r)
	if err != nil {
		return Reply{}, err
	}

	defer func() { _ = response.Body.Close() }()

	if response.StatusCode >= http.StatusBadRequest {
		return Reply{}, &refusedError{readServerError(response)}
	}

	return readReply(response)
}

// unavailable classifies the error of a call that ended without a usable response. The address is left out, because it
// may hold a password.
func (c *Client) unavailable(ctx context.Context, err error, call *Call) *UnavailableError {
	if e, ok := errors.AsType[*refusedError](err); ok && ctx.Err() == nil {
		return e.unavailable(c.key, call)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	const late = "the provider did not answer in time"
	if ended := ctx.Err(); ended != nil {
		return &UnavailableError{Class: "timeout", Cause: ended, Reason: late}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &UnavailableError{Class: "timeout", Cause: err, Reason: late}
	}
	u := &UnavailableError{Class: "broken", Cause: err, Reason: "the provider cannot be reached"}
	if cut, ok := errors.AsType[*cutError](err); ok {
		u.Reason = cut.Error()
	} else if !isNetwork(err) {
		u.Reason = "the provider's response is no chat completion"
	}
	u.Detail = withoutSecrets(err.Error(), c.key, call)

	return u
}

// isNetwork reports whether the connection failed, or ended before the response did.
func isNetwork(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EPIPE)
}
