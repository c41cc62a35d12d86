package ops_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
)

// jobList is a response with jobs.
type jobList struct {
	Data []struct {
		ID    id.ID
		State string
		Args  json.RawMessage
	}
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
}

// read sends a GET and decodes the response.
func (b *board) read(path string, into any) {
	b.Helper()
	w := b.call("GET", path, nil)
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
		b.Fatalf("GET %s: %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		b.Fatalf("GET %s: %v in %s", path, err, w.Body)
	}
}

func (b *board) path(k operator.Key) string { return fmt.Sprintf("/jobs/%s/%s", k.Org, k.ID) }

func TestOperatorsFindJobsByPagesAndById(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	want := []id.ID{}
	for i := range 5 {
		k := b.job(fmt.Sprintf("wake_at = NULL, state = 'dead', last_error = 'Number %d', kind = 'kind.%d'", i, i%2))
		want = append([]id.ID{k.ID}, want...)
	}
	open := b.job(waits)
	var got []id.ID
	path := "/jobs/?limit=2&error=number&org_id=" + b.org.String()
	for cursor := ""; ; {
		var page jobList
		b.read(path+cursor, &page)
		for _, j := range page.Data {
			got = append(got, j.ID)
			if j.State != "dead" || j.Args != nil {
				t.Errorf("listed as %+v", j)
			}
		}
		if page.HasMore != (page.NextCursor != nil) {
			t.Errorf("%+v", page)
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for path, n := range map[string]int{
		"/jobs/?kind=kind.1": 2, "/jobs/?state=retry": 1, "/jobs/?state=running": 0,
		"/jobs/?id=" + open.ID.String(): 1, "/jobs/?id=" + id.New().String(): 0,
		"/jobs/?after=2001-01-01T00:00:00Z&before=2002-01-01T00:00:00Z": 0, "/jobs/?lane=bulk": 0,
	} {
		var page jobList
		if b.read(path, &page); len(page.Data) != n || page.Data == nil {
			t.Errorf("GET %s: %+v", path, page)
		}
	}
	for _, bad := range []string{
		"limit=0", "limit=x", "state=odd", "lane=odd", "org_id=1", "id=1", "after=today",
		"cursor=%25", "what=1", "kind=a&kind=b", "error=%00", "error=%ff", "error=no",
	} {
		if w := b.call("GET", "/jobs/?"+bad, nil); w.Code != 400 || !strings.HasPrefix(w.Body.String(), `{"error":`) {
			t.Errorf("?%s: %d %s", bad, w.Code, w.Body)
		}
	}
	var one struct {
		Kind, State string
		Args        map[string]any
	}
	b.read(b.path(open), &one)
	if one.State != "retry" || one.Kind != "test.kind" {
		t.Errorf("state %s, kind %s; want retry, test.kind", one.State, one.Kind)
	}
	if one.Args == nil {
		t.Error("the job has no args")
	}
	for _, none := range []string{
		"/jobs/x/y", "/jobs/" + b.org.String() + "/" + id.New().String(),
		"/jobs/" + id.New().String() + "/" + open.ID.String(),
	} {
		if w := b.call("GET", none, nil); w.Code != 404 {
			t.Errorf("GET %s: %d", none, w.Code)
		}
	}
}

func TestOperatorsActOnOneJobByItsPath(t *testing.T) {
	t.Parallel()
	b := newBoard(t, func(o *ops.Options) { o.User, o.Password = "grace", "secret" })
	type step struct {
		method, more, body string
		row                string
		want               int
	}
	for _, s := range []step{
		{"POST", "/run", "", dead, 200},
		{"POST", "/run", `{"reason":"mended"}`, waits, 200},
		{"POST", "/run", "", running, 409},
		{"POST", "/run", "", "", 404},
		{"POST", "/run", `{"why":1}`, dead, 400},
		{"POST", "/archive", `{"reason":"poison"}`, pushed, 200},
		{"POST", "/archive", "", dead, 409},
		{"POST", "/archive", "", running, 409},
		{"POST", "/archive", "", "", 404},
		{"DELETE", "", "", dead, 422},
		{"DELETE", "?reason=spam", "", dead, 204},
		{"DELETE", "?reason=spam", "", running, 409},
		{"DELETE", "?reason=spam", "", "", 404},
		{"DELETE", "?force=1", "", dead, 400},
	} {
		k := b.job(s.row)
		w := asked(t, b.listener, s.method, b.path(k)+s.more, func(r *http.Request) {
			r.SetBasicAuth("grace", "secret")
			r.Body = http.NoBody
			if s.body != "" {
				r.Body = readCloser{strings.NewReader(s.body)}
			}
		})
		if w.Code != s.want {
			t.Errorf("%s %s of %q: %d %s, want %d", s.method, s.more, s.row, w.Code, w.Body, s.want)
		}
		want := "none"
		if s.want < 300 {
			want = "grace"
		}
		if who := b.ask(`SELECT max(actor) FROM job_act WHERE $1 = ANY (jobs)`, k.ID); who != want {
			t.Errorf("%s %s of %q: the audit names %q, want %q", s.method, s.more, s.row, who, want)
		}
	}
	if said := b.ask(`SELECT last_error FROM job WHERE last_error LIKE 'archived%'`); said !=
		"archived by grace: poison" {
		t.Errorf("it says %q", said)
	}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

func TestOperatorsRedriveDropAndPauseByFilter(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	for i := range 6 {
		b.job(dead + fmt.Sprintf(", kind = 'kind.%d'", i%2))
	}
	w := b.call("POST", "/jobs/redrive", `{"filter":{"kind":"kind.0"},"rate":5,"reason":"mended"}`)
	var r operator.Redrive
	if err := json.Unmarshal(w.Body.Bytes(), &r); w.Code != 202 || err != nil {
		t.Fatalf("redrive: %d %s, %v; want 202", w.Code, w.Body, err)
	}
	if r.Total != 3 || r.Rate != 5 {
		t.Fatalf("redrive of %d at %d/s, want 3 at 5/s", r.Total, r.Rate)
	}
	if asks := b.ask(
		`SELECT string_agg(kind || ' ' || args::text, ',') FROM job WHERE kind LIKE 'platform.%'`); asks !=
		`platform.redrive {"redrive":"`+r.ID.String()+`"}` {
		t.Errorf("asked for %s", asks)
	}
	var list struct{ Data []operator.Redrive }
	if b.read("/jobs/redrives", &list); len(list.Data) != 1 {
		t.Fatalf("%d redrives, want 1: %+v", len(list.Data), list)
	}
	if got := list.Data[0]; got.ID != r.ID || got.EndedAt != nil {
		t.Errorf("redrive %s ended at %v, want %s, not ended", got.ID, got.EndedAt, r.ID)
	}
	for _, want := range []int{204, 404} {
		if w := b.call("DELETE", "/jobs/redrives/"+r.ID.String(), nil); w.Code != want {
			t.Errorf("cancel: %d, want %d", w.Code, want)
		}
	}
	for body, want := range map[string]int{
		`{"filter":{"kind":"kind.0"}}`: 422, `{"filter":{"state":"open"},"rate":1}`: 422,
		`{"filter":{"lane":"x"},"rate":1}`: 422, `{"filter":{"colour":"red"},"rate":1}`: 400, `[]`: 400,
	} {
		if w := b.call("POST", "/jobs/redrive", body); w.Code != want {
			t.Errorf("redrive %s: %d, want %d", body, w.Code, want)
		}
	}
	for _, tc := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"filter":{"kind":"kind.1"}}`, 422, ""},
		{`{"filter":{},"reason":"all"}`, 422, ""},
		{`{"filter":{"kind":"kind.1"},"reason":"spam"}`, 200, `{"dropped":3,"more":false}`},
		{`{"filter":{"kind":"kind.1"},"reason":"spam"}`, 200, `{"dropped":0,"more":false}`},
	} {
		if w := b.call("POST", "/jobs/drop", tc.body); w.Code != tc.status ||
			tc.want != "" && strings.TrimSpace(w.Body.String()) != tc.want {
			t.Errorf("drop %s: %d %s", tc.body, w.Code, w.Body)
		}
	}
	for _, tc := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/jobs/pauses", `{"scope":"kind","name":"test.kind","reason":"a bad release"}`, 201},
		{"POST", "/jobs/pauses", `{"scope":"kind","name":"test.kind"}`, 200},
		{"POST", "/jobs/pauses", `{"scope":"lane","name":"slow"}`, 422},
		{"POST", "/jobs/pauses", `{"scope":"org","name":"` + strings.ToUpper(b.org.String()) + `"}`, 201},
		{"DELETE", "/jobs/pauses?scope=org&name=" + b.org.String(), "", 204},
		{"DELETE", "/jobs/pauses?scope=org&name=" + b.org.String(), "", 404},
		{"DELETE", "/jobs/pauses?scope=org", "", 422},
		{"PUT", "/jobs/weights/" + b.org.String(), `{"weight":7}`, 200},
		{"PUT", "/jobs/weights/" + b.org.String(), `{"weight":0}`, 422},
		{"PUT", "/jobs/weights/x", `{"weight":1}`, 404},
	} {
		if w := b.call(tc.method, tc.path, tc.body); w.Code != tc.want {
			t.Errorf("%s %s %s: %d %s, want %d", tc.method, tc.path, tc.body, w.Code, w.Body, tc.want)
		}
	}
	var pauses struct{ Data []operator.Pause }
	if b.read("/jobs/pauses", &pauses); len(pauses.Data) != 1 || pauses.Data[0].Name != "test.kind" {
		t.Errorf("%+v", pauses)
	}
	var weights struct{ Data []operator.Weight }
	if b.read("/jobs/weights", &weights); len(weights.Data) != 1 || weights.Data[0].Weight != 7 {
		t.Errorf("%+v", weights)
	}
	var acts []string
	for cursor := ""; ; {
		var page struct {
			Data       []operator.AuditEntry
			NextCursor *string `json:"next_cursor"`
		}
		b.read("/jobs/acts?limit=3"+cursor, &page)
		for _, a := range page.Data {
			acts = append([]string{strings.TrimSpace(a.Act + " " + a.Reason)}, acts...)
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	if diff := cmp.Diff([]string{
		"redrive.start mended", "redrive.cancel", "drop spam", "pause a bad release",
		"pause", "resume", "weight",
	}, acts); diff != "" {
		t.Error(diff)
	}
}

// slots is a fake worker.
type slots struct {
	n   int
	bad error
}

func (s *slots) Concurrency() int { return s.n }

func (s *slots) SetConcurrency(_ context.Context, n int) error {
	if s.bad == nil {
		s.n = n
	}
	return s.bad
}

func TestAWorkersSlotsAreChangedThroughItsListener(t *testing.T) {
	t.Parallel()
	s := &slots{n: 20}
	b := newBoard(t, func(o *ops.Options) { o.Worker, o.Role = s, "worker" })
	var got struct{ Concurrency int }
	if b.read("/workers/concurrency", &got); got.Concurrency != 20 {
		t.Errorf("%+v", got)
	}
	for body, want := range map[string]int{
		`{"concurrency":0}`: 422, `{}`: 422, `{"concurrency":1001}`: 422,
		`{"concurrency":"many"}`: 400,
	} {
		if w := b.call("PUT", "/workers/concurrency", body); w.Code != want || s.n != 20 {
			t.Errorf("%s: %d, %d slots", body, w.Code, s.n)
		}
	}
	w := b.call("PUT", "/workers/concurrency", `{"concurrency":40}`)
	if body := strings.TrimSpace(w.Body.String()); w.Code != 200 || body != `{"concurrency":40}` {
		t.Errorf("%d %s, want 200 and the new concurrency", w.Code, body)
	}
	if s.n != 40 {
		t.Errorf("%d slots, want 40", s.n)
	}
	s.bad = errors.New("no")
	if w := b.call("PUT", "/workers/concurrency", `{"concurrency":50}`); w.Code != 500 {
		t.Errorf("%d", w.Code)
	}
	if said := b.ask(`SELECT string_agg(act || ' ' || scope, ', ') FROM job_act`); said !=
		"concurrency worker: 40, was 20" {
		t.Errorf("the audit has %q", said)
	}
	if w := newBoard(t).call("GET", "/workers/concurrency", nil); w.Code != 404 {
		t.Errorf("a process without a worker: %d", w.Code)
	}
}

func TestOperatorsWorkWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	k := b.job(dead)
	b.server.Stop()
	for _, c := range [][3]string{
		{"GET", "/jobs/", ""},
		{"POST", b.path(k) + "/run", ""},
		{"POST", b.path(k) + "/archive", ""},
		{"POST", "/jobs/pauses", `{"scope":"lane","name":"default"}`},
		{"DELETE", b.path(k) + "?reason=gone", ""},
	} {
		if w := b.call(c[0], c[1], c[2]); w.Code >= 300 {
			t.Errorf("%s %s: %d %s", c[0], c[1], w.Code, w.Body)
		}
	}
}
