package stripe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/funnelwork/funnelwork/internal/sandbox/inprocess"
)

// maxBody limits a request body, in bytes.
const maxBody = 1 << 20

// call is one request.
type call struct {
	*params
	ctx     context.Context
	r       *http.Request
	route   string
	account string
	key     string
	form    url.Values
	request origin
	id      string
}

// answer is a response, as it is sent and as the idempotency store keeps it.
type answer struct {
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
	header http.Header
}

// ServeHTTP serves the API: /v1/...
func (s *Sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.routes.ServeHTTP(w, r)
}

// handler executes one route within tx and returns the object to render. A problem that it returns is the response, but
// the work is kept, as for a declined card.
type handler func(*tx, *call) (any, *problem)

// routeHandler returns the handler of a route: it checks the key, the API version, the idempotency key and the faults.
func (s *Sandbox) routeHandler(route string, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, refused := s.readRequest(w, r, route)
		if refused != nil {
			writeAnswer(w, c, refused.asAnswer())
			return
		}

		// A request that was begun is completed even if the caller gives up.
		ctx := context.WithoutCancel(r.Context())
		c.ctx = ctx
		struck := s.faults.takeMatching(r)
		a := struck.refuseBefore()
		if a == nil && r.Method == http.MethodGet {
			struck.delayWork(ctx)
			a = s.executeRead(c, h)
		} else if a == nil {
			a = s.executeWrite(c, h, struck)
		}

		a = struck.applyAfter(r.Context(), a)
		writeAnswer(w, c, a)
	}
}

func (s *Sandbox) readRequest(w http.ResponseWriter, r *http.Request, route string) (c *call,
	refused *problem,
) {
	id := newID("req")[:18]
	c = &call{r: r, route: route, id: id, key: r.Header.Get("Idempotency-Key"), account: r.Header.Get("Stripe-Account")}
	c.request.ID = &c.id
	if c.key != "" {
		c.request.Key = &c.key
	}

	key, _, basic := r.BasicAuth()
	if !basic {
		key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}

	if !strings.HasPrefix(key, "sk_test_") && !strings.HasPrefix(key, "rk_test_") {
		return c,
			&problem{
				Status: http.StatusUnauthorized, Type: "invalid_request_error",
				Message: "Invalid API Key provided. The sandbox takes test keys: sk_test_ and anything.",
			}
	}

	if v := r.Header.Get("Stripe-Version"); v != "" && v != Version {
		return c, invalidRequest("", "", "Invalid Stripe API version: %s. The sandbox speaks %s.",
			v, Version)
	}

	if len(c.key) > 255 {
		return c,
			&problem{
				Status: http.StatusBadRequest, Type: "idempotency_error",
				Message: "Idempotency keys have up to 255 characters.",
			}
	}

	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return c, invalidRequest("", "", "The request could not be read.")
	}

	if c.form, err = url.ParseQuery(string(body)); err != nil {
		return c, invalidRequest("", "", "The request is not form encoded.")
	}

	for k, v := range r.URL.Query() {
		c.form[k] = append(c.form[k], v...)
	}

	err = recoverRefusal(&refused, func() { c.params = parseParams(c.form) })
	if refused == nil && err != nil {
		refused = internalError()
	}

	return c, refused
}

func (s *Sandbox) executeRead(c *call, h handler) *answer {
	var a *answer
	refused, err := s.viewState(c.ctx, c.account, func(tx *tx) *problem {
		a = s.runHandler(tx, c, h)
		return nil
	})
	return s.responseFor(c, a, refused, err)
}

func (s *Sandbox) responseFor(c *call, a *answer, refused *problem, err error) *answer {
	switch {
	case err != nil:
		s.o.Log.ErrorContext(c.ctx, "sandbox stripe failed", "route", c.route, "error", err)
		return internalError().asAnswer()
	case refused != nil && a == nil:
		return refused.asAnswer()
	default:
		return a
	}
}

// runHandler runs the handler and renders its result within the same unit of work.
func (s *Sandbox) runHandler(tx *tx, c *call, h handler) *answer {
	if c.account != "" {
		tx.inAccount("", func() { tx.accountAt(c.account) })
	}

	expand := parseExpand(c.texts("expand"))
	result, refused := h(tx, c)
	c.refuseUnused()
	if refused != nil {
		if !refused.kept {
			refuse(refused)
		}
		return refused.asAnswer()
	}

	if o, ok := result.(object); ok {
		result = tx.renderObject(o, expand)
	}

	body, err := json.Marshal(result)
	tx.abortOnError(err)

	return &answer{Status: http.StatusOK, Body: body}
}

// used is an idempotency key with its request and, once that is done, the response.
type usedKey struct {
	head
	Params string  `json:"params"` // a hash of method, path and parameters
	Since  int64   `json:"since"`  // real time
	Answer *answer `json:"answer"`
}

const (
	kindKey kind = "idempotency_key"
	// keyAge is how long a key is stored; a later use is a new request. pendingAge is how long a key counts as in use
	// if its process may have died.
	keyAge, pendingAge = 24 * 3600, 60
)

func (*usedKey) objectKind() kind { return kindKey }
func (u *usedKey) nextDue() int64 { return u.Created + keyAge }

// executeWrite runs a request that writes. The key is first marked as in use, so that a concurrent duplicate is
// refused, and the response is stored in the same transaction as the work.
func (s *Sandbox) executeWrite(c *call, h handler, struck *strike) *answer {
	if c.key == "" {
		return s.runWrite(c, h, struck)
	}

	hash := sha256.Sum256([]byte(c.r.Method + " " + c.r.URL.Path + "?" + c.form.Encode()))
	mine := hex.EncodeToString(hash[:])
	var before *answer
	refused, err := s.updateState(c.ctx, c.account, c.request, func(tx *tx) *problem {
		k := find[usedKey](tx, c.key)
		today := s.o.Now().Unix()
		switch {
		case k == nil, k.Answer != nil && tx.now-k.Created >= keyAge, k.Answer == nil && today-k.Since >= pendingAge:
			if k == nil {
				k = &usedKey{head: head{ID: c.key}}
			}
			k.Created = tx.now
			k.Params = mine
			k.Since = today
			k.Answer = nil
			tx.put(k)
		case k.Params != mine:
			return &problem{
				Status: http.StatusBadRequest, Type: "idempotency_error",
				Message: "Keys for idempotent requests can only be used with the same parameters they were first " +
					"used with. Try using a key other than '" + c.key +
					"' if you meant to execute a different request.",
			}
		case k.Answer == nil:
			return &problem{
				Status: http.StatusConflict, Type: "idempotency_error", Code: "idempotency_key_in_use",
				Message: "There is currently another in-progress request using this Idempotent Key (that probably " +
					"means you submitted twice, and the other request is still going through): " + c.key,
			}
		default:
			before = k.Answer
			before.header = http.Header{"Idempotent-Replayed": {"true"}}
		}

		return nil
	})
	if err != nil || refused != nil || before != nil {
		return s.responseFor(c, before, refused, err)
	}

	return s.runWrite(c, h, struck)
}

// runWrite runs the handler and, if there is a key, stores its response or deletes the key.
func (s *Sandbox) runWrite(c *call, h handler, struck *strike) *answer {
	struck.delayWork(c.ctx)
	var a *answer
	keep := func(tx *tx) {
		if c.key == "" {
			return
		}
		k := mustFind[usedKey](tx, "", c.key)
		k.Answer = a
		tx.put(k)
	}
	refused, err := s.updateState(c.ctx, c.account, c.request, func(tx *tx) *problem {
		if refused := struck.replaceWork(); refused != nil {
			return refused
		}

		a = nil
		a = s.runHandler(tx, c, h)
		if struck.hidesResult() {
			a = internalError().asAnswer() // executed, but reported as failed
		}

		keep(tx)

		return nil
	})
	if (refused != nil || err != nil) && c.key != "" {
		_, after := s.updateState(c.ctx, c.account, c.request, func(tx *tx) *problem {
			if refused != nil && refused.isStored() {
				a = refused.asAnswer()
				keep(tx)
				a = nil
			} else if k := find[usedKey](tx, c.key); k != nil {
				tx.drop(k)
			}

			return nil
		})
		err = errors.Join(err, after)
		a = nil
	}

	if refused != nil {
		a = nil
	}

	return s.responseFor(c, a, refused, err)
}

func internalError() *problem {
	return &problem{Status: http.StatusInternalServerError, Type: "api_error", Message: "An unknown error occurred."}
}

func (p *problem) asAnswer() *answer {
	body, err := json.Marshal(map[string]any{"error": p})
	if err != nil {
		return &answer{
			Status: http.StatusInternalServerError,
			Body:   json.RawMessage(`{"error":{"type":"api_error","message":"An unknown error occurred."}}`),
		}
	}

	return &answer{Status: p.Status, Body: body, header: p.Header}
}

func writeAnswer(w http.ResponseWriter, c *call, a *answer) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Request-Id", c.id)
	h.Set("Stripe-Version", Version)
	if c.account != "" {
		h.Set("Stripe-Account", c.account)
	}

	if c.key != "" {
		h.Set("Idempotency-Key", c.key)
	}

	for k, v := range a.header {
		h[k] = v
	}

	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) //nolint:gosec // it is JSON, and says so
}

// Transport returns a RoundTripper that calls s without a network, whatever the host of the URL. If the caller cancels,
// the request is still completed, as over a network.
func (s *Sandbox) Transport() http.RoundTripper {
	return inprocess.Transport{Handler: s, Calls: &s.calls}
}
