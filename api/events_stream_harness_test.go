package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

const (
	eventStream = "text/event-stream"
	eventsPath  = "/api/v1/events"
	streamPath  = eventsPath + "/stream"
)

// message is one part of a stream: an event, or a comment.
type message struct{ ID, Event, Data, Comment string }

// stream is an open stream of events.
type stream struct {
	testing.TB
	res   *http.Response
	close context.CancelFunc
	came  chan message // closed at the end of the stream
}

// connect opens a stream, which must succeed. headers are pairs.
func (c *caller) connect(path string, headers ...string) *stream {
	c.Helper()
	s, got := c.tryStream(path, headers...)
	if s == nil {
		c.Fatalf("GET %s: %d %s", path, got.Status, got.Body)
	}
	return s
}

// tryStream opens a stream, or returns the response that is none.
func (c *caller) tryStream(path string, headers ...string) (*stream, answer) {
	c.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.Context()))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+path, nil)
	if err != nil {
		c.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Accept-Encoding", "gzip, br")
	for pair := range slices.Chunk(headers, 2) {
		req.Header.Set(pair[0], pair[1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		c.Fatal(err)
	}
	if res.Header.Get("Content-Type") != eventStream {
		cancel()
		_ = res.Body.Close()
		return nil, c.do(http.MethodGet, path, nil, headers...)
	}
	s := &stream{TB: c, res: res, close: cancel, came: make(chan message, 10000)}
	c.Cleanup(func() {
		cancel()
		_ = res.Body.Close()
	})
	go s.read()
	return s, answer{}
}

func (s *stream) read() {
	defer close(s.came)
	lines := bufio.NewScanner(s.res.Body)
	lines.Buffer(nil, 4<<20)
	var m message
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "":
			s.came <- m
			m = message{}
		case name == "":
			m.Comment = value
		case name == "id":
			m.ID = value
		case name == "event":
			m.Event = value
		case name == "data":
			m.Data += value
		}
	}
}

const streamPatience = 3 * time.Minute

// next returns the next part of the stream that is no comment.
func (s *stream) next() message {
	s.Helper()
	for {
		select {
		case m, open := <-s.came:
			if !open {
				s.Fatal("the stream has ended")
			}
			if m.Comment == "" {
				return m
			}
		case <-time.After(streamPatience):
			s.Fatal("nothing comes")
		}
	}
}

// ends waits for the end of the stream.
func (s *stream) ends() {
	s.Helper()
	patience := time.After(streamPatience)
	for {
		select {
		case _, open := <-s.came:
			if !open {
				return
			}
		case <-patience:
			s.Fatal("the stream does not end")
		}
	}
}

// contact creates a contact, and returns its address.
func (c *caller) newContact(email string) string {
	c.Helper()
	return c.do("POST", contactsPath, map[string]any{"email": email, "first_name": "A", "last_name": "B"}).
		want(c, 201, "").Header.Get("Location")
}

// emailOf returns the email in an event on a contact.
func emailOf(t testing.TB, m message) string {
	t.Helper()
	var e struct {
		Data struct{ Object struct{ Email string } }
	}
	if err := json.Unmarshal([]byte(m.Data), &e); err != nil {
		t.Fatalf("%v: %s", err, m.Data)
	}
	return e.Data.Object.Email
}

// feed returns the events after a cursor, as GET /api/v1/events lists them.
func (c *caller) listed(cursor, filter string) (all []json.RawMessage, next string) {
	c.Helper()
	var l struct {
		Data []json.RawMessage
		Next string `json:"next_cursor"`
	}
	c.do("GET", eventsPath+"?limit=200&cursor="+cursor+filter, nil).want(c, 200, "").into(c, &l)
	return l.Data, l.Next
}

// until waits until done reports true.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(streamPatience); !done(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal(what)
		}
	}
}

// super runs a statement without row policies.
func (s *service) super(statement string, args ...any) {
	s.Helper()
	if _, err := testkit.Pgx(s, s.DB.URL).Exec(s.Context(), statement, args...); err != nil {
		s.Fatal(err)
	}
}
