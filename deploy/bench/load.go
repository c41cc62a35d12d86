package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/redisx"
)

func redisClient(url string) (redis.UniversalClient, error) { return redisx.Open(url, redisx.Worker) }

// perOrg is the number of requests of an org before the next one takes over: below 200, so that the rate limit, which
// is on, admits them all.
const perOrg = 180

// crowd assigns callers to workers, each for perOrg uses. An org is used again only after all the others.
type crowd struct {
	orgs []caller
	next *atomic.Int64
	now  []caller
	left []int
}

// newCrowd returns a crowd that takes turns from next, which crowds of one world share.
func newCrowd(orgs []caller, next *atomic.Int64, workers int) *crowd {
	return &crowd{orgs: orgs, next: next, now: make([]caller, workers), left: make([]int, workers)}
}

func (c *crowd) caller(worker int) caller {
	if c.left[worker] == 0 {
		c.now[worker], c.left[worker] = c.orgs[int(c.next.Add(1))%len(c.orgs)], perOrg
	}
	c.left[worker]--
	return c.now[worker]
}

// clients are one persistent connection per worker.
type clients []*fasthttp.HostClient

func newClients(addr string, n int) clients {
	out := make(clients, n)
	for i := range out {
		out[i] = &fasthttp.HostClient{
			Addr: addr, MaxConns: 1, MaxIdleConnDuration: time.Minute,
			ReadTimeout: 20 * time.Second, NoDefaultUserAgentHeader: true,
		}
	}
	return out
}

// call makes one request, checks the status, and passes the body to read if that is not nil. read must not retain it.
func (cl clients) call(worker int, key, method, path string, body []byte, want int, read func([]byte) error) error {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.Header.SetMethod(method)
	req.SetRequestURI("http://" + cl[worker].Addr + path)
	req.Header.Set("Authorization", "Bearer "+key)
	if body != nil {
		req.Header.SetContentType("application/json")
		if method == fasthttp.MethodPatch {
			req.Header.SetContentType("application/merge-patch+json")
		}
		req.SetBody(body)
	}
	if err := cl[worker].Do(req, res); err != nil {
		return err
	}
	if res.StatusCode() != want {
		return fmt.Errorf("%s %s: %d, want %d: %.800s", method, path, res.StatusCode(), want, res.Body())
	}
	if read == nil {
		return nil
	}
	return read(res.Body())
}

const contactsPath = "/api/v1/crm/contacts"

var marks atomic.Int64

// newMark returns a unique word of constant length.
func newMark() string {
	return "q" + strconv.FormatInt(1<<40+marks.Add(1), 36)
}

// contactBody returns a contact as a form would send it.
func contactBody(mark string) []byte {
	return []byte(`{"email":"` + mark +
		`@acme.example","first_name":"Ada","last_name":"Lovelace","job_title":"Head of ` +
		`Marketing","source":"referral","stage":"lead"}`)
}

// post creates a contact and returns its id.
func (cl clients) post(c caller, mark string) (contactID string, err error) {
	var created struct{ ID string }
	err = cl.call(0, c.key, fasthttp.MethodPost, contactsPath, contactBody(mark), fasthttp.StatusCreated,
		func(b []byte) error { return json.Unmarshal(b, &created) })
	return created.ID, err
}

// poster is POST contact as a contender. It reads the response's body without parsing it.
func (cl clients) poster(c *crowd) func(context.Context, int) error {
	return func(_ context.Context, worker int) error {
		return cl.call(worker, c.caller(worker).key, fasthttp.MethodPost, contactsPath, contactBody(newMark()),
			fasthttp.StatusCreated, nil)
	}
}
