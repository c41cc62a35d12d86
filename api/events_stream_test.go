package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestAStreamShowsTheFeedAsItGrows(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	c.newContact("before@example.test")
	until(t, "the feed does not show the contact", func() bool { // it waits for transactions of other tests, too
		all, _ := c.listed("", "")
		return slices.ContainsFunc(all, func(e json.RawMessage) bool {
			return strings.Contains(string(e), "before@example.test")
		})
	})
	s := c.connect(streamPath)
	for name, want := range map[string]string{
		"Content-Encoding": "", "Cache-Control": "no-store, no-transform", "Connection": "close",
	} {
		if got := s.res.Header.Get(name); name != "Connection" && got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	var have, cursors []string
	for i := range 3 {
		c.newContact(fmt.Sprintf("c%d@example.test", i))
	}
	for range 3 {
		m := s.next()
		have, cursors = append(have, m.Data), append(cursors, m.ID)
		if m.Event != "contact.created" {
			t.Errorf("event %q", m.Event)
		}
	}
	all, last := c.listed("", "")
	var want []string
	for _, e := range all[len(all)-3:] {
		want = append(want, string(e))
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("the stream differs from the feed (-feed +stream):\n%s", diff)
	}
	rest, _ := c.listed(cursors[0], "")
	if len(rest) != 2 {
		t.Errorf("the feed after the first id has %d events, want 2", len(rest))
	}
	c.newContact("after@example.test")
	if got := emailOf(t, c.connect(streamPath, "Last-Event-ID", last).next()); got != "after@example.test" {
		t.Errorf("after next_cursor comes %s", got)
	}
	if got := c.do("GET", streamPath, nil, "Last-Event-ID", "x"); got.want(t, 400, "invalid_cursor").field() !=
		"Last-Event-ID invalid_cursor" {
		t.Errorf("the wrong parameter is %q", got.field())
	}
}

func TestAStreamWithTypesHasOnlyThose(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	const types = "?type=contact.updated"
	s := c.connect(streamPath + types)
	path := c.newContact("ada@example.test")
	c.do("PATCH", path, `{"first_name":"Ada"}`).want(t, 200, "")
	m := s.next()
	if m.Event != "contact.updated" {
		t.Fatalf("event %q", m.Event)
	}
	if all, _ := c.listed(m.ID, "&type=contact.updated"); len(all) != 0 {
		t.Errorf("the feed after the id has %d events", len(all))
	}
	c.do("GET", streamPath, nil, "Last-Event-ID", m.ID).want(t, 400, "invalid_cursor")
	c.do("GET", streamPath+"?type=nonsense", nil).want(t, 400, "")
	c.do("PATCH", path, `{"first_name":"Eve"}`).want(t, 200, "")
	if m := c.connect(streamPath+types, "Last-Event-ID", m.ID).next(); m.Event != "contact.updated" {
		t.Errorf("event %q", m.Event)
	}
}

func TestAStreamMissesNothingOverRestartsAndProcesses(t *testing.T) {
	t.Parallel()
	here := start(t, unlimited)
	there := here.another()
	c := here.signup()
	_, cursor := c.listed("", "")
	made := make(chan struct{})
	const n = 60
	go func() {
		defer close(made)
		for i := range n {
			c.newContact(fmt.Sprintf("c%d@example.test", i))
		}
	}()
	var have, want []string
	for i := range n { // a new connection after every seventh event, to alternating processes
		want = append(want, fmt.Sprintf("c%d@example.test", i))
	}
	for turn := 0; len(have) < n; turn++ {
		at := []*service{here, there}[turn%2]
		s := c.at(at).connect(streamPath, "Last-Event-ID", cursor)
		for i := 0; i < 7 && len(have) < n; i++ {
			m := s.next()
			have, cursor = append(have, emailOf(t, m)), m.ID
		}
		s.close()
	}
	<-made
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("events (-want +have):\n%s", diff)
	}
}

func TestAQuietStreamSendsComments(t *testing.T) {
	t.Parallel()
	sv := start(t, unlimited)
	sv.App.Comment(20 * time.Millisecond)
	s := sv.signup().connect(streamPath)
	for range 3 {
		if m := <-s.came; m.Comment == "" {
			t.Errorf("have %+v, want a comment", m)
		}
	}
}

func TestTheSixthStreamOfAUserIsRefusedByEveryProcess(t *testing.T) {
	t.Parallel()
	redis := testkit.Redis(t)
	here := start(t, unlimited, shareStreams(t, redis))
	d := here.Deps
	shareStreams(t, redis)(&d)
	there := *here
	there.Deps = d
	there.App = api.New(d)
	there.serve()
	c := here.signup()
	other := c.as(auth.Viewer)
	var open []*stream
	for i := range 5 {
		open = append(open, c.at([]*service{here, &there}[i%2]).connect(streamPath))
	}
	for _, at := range []*service{here, &there} {
		got := c.at(at).do("GET", streamPath, nil).want(t, 429, "rate_limited")
		if got.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	other.connect(streamPath)
	c.key(auth.Viewer).connect(streamPath)
	open[0].close() // of the first process; the second notices it
	until(t, "a closed stream is never released", func() bool {
		s, _ := c.at(&there).tryStream(streamPath)
		return s != nil
	})
}

func TestAStreamEndsWithItsSession(t *testing.T) {
	t.Parallel()
	here := start(t, unlimited)
	there := here.another()
	owner := here.signup()
	id := func(c *caller) string { return c.User.String() }
	for name, end := range map[string]func(c *caller){
		"logged out": func(c *caller) {
			var l struct{ Data []struct{ ID string } }
			c.do("GET", "/api/v1/auth/sessions", nil).want(t, 200, "").into(t, &l)
			c.do("DELETE", "/api/v1/auth/sessions/"+l.Data[0].ID, nil).want(t, 204, "")
		},
		"removed": func(c *caller) { owner.do("DELETE", "/api/v1/members/"+id(c), nil).want(t, 204, "") },
	} {
		c := owner.as(auth.Viewer)
		s := c.at(there).connect(streamPath)
		end(c)
		s.ends()
		c.do("GET", mePath, nil).want(t, 401, "session_ended")
		t.Log(name)
	}
	key := owner.key(auth.Viewer)
	s := key.at(there).connect(streamPath)
	owner.do("DELETE", "/api/v1/api-keys/"+owner.first("/api/v1/api-keys"), nil).want(t, 204, "")
	s.ends()
}

func TestAStreamEndsWhenTheRoleChanges(t *testing.T) {
	t.Parallel()
	owner := start(t, unlimited).signup()
	c := owner.as(auth.Admin)
	s := c.connect(streamPath)
	owner.do("PATCH", "/api/v1/members/"+c.User.String(), `{"role":"viewer"}`).want(t, 200, "")
	s.ends()
	c.connect(streamPath) // begins anew, with the rights of a viewer
}

func TestAStreamOlderThanTheFeedBeginsWithAReset(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	c.newContact("old@example.test")
	_, cursor := c.listed("", "")
	c.super(`DELETE FROM event WHERE org_id = $1`, c.Org) // as the retention does
	s := c.connect(streamPath, "Last-Event-ID", cursor)
	if diff := cmp.Diff(message{Event: "reset", Data: "{}"}, s.next()); diff != "" {
		t.Errorf("first message (-want +have):\n%s", diff)
	}
	c.newContact("new@example.test")
	if got := emailOf(t, s.next()); got != "new@example.test" {
		t.Errorf("after the reset comes %s", got)
	}
	_, cursor = c.listed("", "")
	c.newContact("newer@example.test")
	if m := c.connect(streamPath, "Last-Event-ID", cursor).next(); m.Event == "reset" {
		t.Error("a reset for an id that the feed has")
	}
}

func TestAllStreamsOfAnOrgShareOnePoll(t *testing.T) {
	t.Parallel()
	sv := start(t, unlimited)
	c, other := sv.signup(), sv.signup()
	var all []*stream
	for range 4 {
		all = append(all, c.connect(streamPath), c.as(auth.Viewer).connect(streamPath))
	}
	if n := sv.App.Followed(); n != 1 {
		t.Errorf("%d feeds are polled, want 1", n)
	}
	foreign := other.connect(streamPath)
	if n := sv.App.Followed(); n != 2 {
		t.Errorf("%d feeds are polled, want 2", n)
	}
	c.newContact("ada@example.test")
	for _, s := range all {
		if got := emailOf(t, s.next()); got != "ada@example.test" {
			t.Errorf("a stream has %s", got)
		}
		s.close()
	}
	other.newContact("eve@example.test")
	if got := emailOf(t, foreign.next()); got != "eve@example.test" {
		t.Errorf("the other org's stream has %s", got)
	}
	foreign.close()
	until(t, "a feed without readers is polled", func() bool { return sv.App.Followed() == 0 })
}

func TestNoOrgReadsAnothersStream(t *testing.T) {
	t.Parallel()
	sv := start(t, unlimited)
	a, b := sv.signup(), sv.signup()
	a.newContact("ada@example.test")
	_, cursor := a.listed("", "")
	b.do("GET", streamPath, nil, "Last-Event-ID", cursor).want(t, 400, "invalid_cursor")
	event := a.first(eventsPath)
	b.do("GET", eventsPath+"/"+event, nil).want(t, 404, "not_found")
	sv.stranger().do("GET", streamPath, nil).want(t, 401, "unauthorized")
}

func TestAnEventIsTheSameByItsIDAndInTheFeed(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	c.newContact("ada@example.test")
	var all []json.RawMessage
	until(t, "no older transaction holds the event back", func() bool {
		all, _ = c.listed("", "")
		return len(all) > 0
	})
	got := c.do("GET", eventsPath+"/"+c.first(eventsPath), nil).want(t, 200, "")
	if diff := cmp.Diff(string(all[0]), strings.TrimSpace(string(got.Body))); diff != "" {
		t.Errorf("event (-feed +id):\n%s", diff)
	}
	c.do("GET", eventsPath+"/nothing", nil).want(t, 404, "not_found")
	c.do("HEAD", streamPath, nil).want(t, 200, "")
}

func TestStreamsLeaveNothingBehind(t *testing.T) { //nolint:paralleltest // counts goroutines
	c := start(t, unlimited).signup()
	round := func() {
		var all []*stream
		for range 5 {
			all = append(all, c.connect(streamPath))
		}
		for _, s := range all {
			s.close()
			s.ends()
		}
		until(t, "a feed without readers is polled", func() bool { return c.App.Followed() == 0 })
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		until(t, "closed streams are counted", func() bool {
			s, _ := c.tryStream(streamPath)
			if s == nil {
				return false
			}
			s.close()
			s.ends()
			return true
		})
	}
	round()
	before := runtime.NumGoroutine()
	for range 10 {
		round()
	}
	until(t, "goroutines of streams remain", func() bool { return runtime.NumGoroutine() <= before+5 })
}
