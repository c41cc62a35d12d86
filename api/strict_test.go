package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
)

func TestASegmentMayHaveAFilterWithoutALeaf(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	ada.contact("ada@acme.example")
	for filter, count := range map[string]int{
		`{"all":[]}`: 1, `{"any":[]}`: 0, `{"not":{"any":[]}}`: 1,
		`{"all":[{"all":[]}]}`: 1,
	} {
		made := ada.do(http.MethodPost, segmentsPath, `{"name":"S`+url.QueryEscape(filter)+`","filter":`+filter+`}`).
			want(t, 201, "")
		settleSegments(t, s)
		at := made.Header.Get("Location")
		var seg segment
		ada.do(http.MethodGet, at, nil).want(t, 200, "").into(t, &seg)
		if seg.Status != "ready" || seg.ContactCount != count {
			t.Errorf("%s: %+v, want %d", filter, seg, count)
		}
		ada.do(http.MethodPatch, at, `{"filter":{"all":[{"any":[]}]}}`).want(t, 200, "")
	}
}

func TestANumberThatNoFieldHoldsIsItsFieldsFault(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	for amount, want := range map[string]int64{"1000.0": 1000, "1e3": 1000, "9007199254740992": 1 << 53, "0": 0} {
		var d struct{ Amount int64 }
		ada.do(http.MethodPost, dealsPath, `{"name":"d","amount":`+amount+`}`).want(t, 201, "").into(t, &d)
		if d.Amount != want {
			t.Errorf("%s became %d", amount, d.Amount)
		}
	}
	for _, amount := range []string{
		"18446744073709551616", "9223372036854775808", "9007199254740993", "0.5", "-1",
		"1e300",
	} {
		if got := ada.do(http.MethodPost, dealsPath, `{"name":"d","amount":`+amount+`}`).
			want(t, 422, "validation_failed"); !strings.HasPrefix(got.field(), "#/amount"+" ") {
			t.Errorf("%s: %s", amount, got.Body)
		}
		var batch struct {
			Data []struct {
				Result string
				Error  *struct{ Errors []struct{ Pointer string } }
			}
		}
		ada.do(http.MethodPost, dealsPath+"/batch",
			`{"deals":[{"name":"a"},{"name":"b","amount":`+amount+`},{"name":"c","amount":7.0}]}`).want(t, 200, "").
			into(t, &batch)
		var results []string
		for _, d := range batch.Data {
			results = append(results, d.Result)
		}
		if diff := cmp.Diff([]string{"created", "error", "created"}, results); diff != "" {
			t.Fatalf("%s: results (-want +got):\n%s", amount, diff)
		}
		if diff := cmp.Diff([]struct{ Pointer string }{{"#/deals/1/amount"}}, batch.Data[1].Error.Errors); diff != "" {
			t.Errorf("%s: errors (-want +got):\n%s", amount, diff)
		}
	}
	stages := `{"name":"p","stages":[{"name":"o","kind":"open"},{"name":"x","kind":"open",` +
		`"probability":1180591620717411303424},{"name":"w","kind":"won"},{"name":"l","kind":"lost"}]}`
	if got := ada.do(http.MethodPost, pipelinesPath, stages).
		want(t, 422, "validation_failed"); !strings.HasPrefix(got.field(), "#/stages/1/probability"+" ") {
		t.Errorf("%s", got.Body)
	}
}

func TestNullIsNotTheRealRun(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	c, hook := ada.contact("ada@acme.example"), ada.hook("")
	for _, one := range []struct{ path, body, field string }{
		{bulkPath, `{"filter":{"all":[]},"action":{"type":"archive"},"dry_run":null}`, "#/dry_run"},
		{
			hooksPath + "/" + hook.ID + "/replay",
			`{"from":"2026-01-01T00:00:00Z","to":"2099-01-01T00:00:00Z","dry_run":null}`, "#/dry_run",
		},
		{
			hooksPath + "/" + hook.ID + "/replay",
			`{"from":"2026-01-01T00:00:00Z","to":"2099-01-01T00:00:00Z","only_failed":null}`, "#/only_failed",
		},
		{contactsPath + "/exports", `{"format":"csv","archived":null}`, "#/archived"},
	} {
		if got := ada.do(http.MethodPost, one.path, one.body).
			want(t, 422, "validation_failed"); !strings.HasPrefix(got.field(), one.field+" ") {
			t.Errorf("%s: %s", one.path, got.Body)
		}
	}
	ada.do(http.MethodGet, contactsPath+"/"+c.ID, nil).want(t, 200, "")
}

func TestWhatTakesNoBodyHearsNone(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	c := ada.contact("ada@acme.example")
	at := contactsPath + "/" + c.ID
	for body, want := range map[string]struct {
		status int
		code   string
	}{
		`{"dry_run":true}`: {422, "validation_failed"}, `{"email":`: {400, "malformed_json"},
		`{"a":1,"a":2}`: {400, "duplicate_key"}, `[]`: {422, "validation_failed"}, `7`: {422, "validation_failed"},
	} {
		ada.do(http.MethodPost, at+"/purge", body).want(t, want.status, want.code)
	}
	ada.do(http.MethodPost, at+"/purge", "x", "Content-Type", "text/plain").want(t, 415, "unsupported_media_type")
	if got := ada.do(http.MethodPost, at+"/purge", `{"dry_run":true}`); !strings.HasPrefix(got.field(),
		"#/dry_run"+" ") {
		t.Errorf("%s", got.Body)
	}
	ada.do(http.MethodGet, at, nil).want(t, 200, "")
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	for _, body := range []any{nil, "", "{}", " {} "} {
		ada.do(http.MethodPost, at+"/restore", body).want(t, 200, "")
	}
	ada.do(http.MethodPost, at+"/restore", nil, "Content-Type", "application/json").want(t, 200, "")
}

func TestATagIsWellFormedAndSeveralLinesAreOneList(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	c := ada.contact("ada@acme.example")
	at := contactsPath + "/" + c.ID
	for _, bad := range []string{
		`"1`, `"1.0"x`, `"1.0";foo`, `""1"`, `1.0`, `W/"1.0"`, `"01.0"`, `"1.x"`, `"+1.0"`,
		`"2.0"`, `"`, `""`,
	} {
		ada.do(http.MethodPatch, at, `{}`, "If-Match", bad).want(t, 412, "precondition_failed")
	}
	for _, good := range []string{`"1.0"`, `"1.99"`, `*`, `"7.0", "1.0"`, `"1"`} {
		ada.do(http.MethodPatch, at, `{}`, "If-Match", good).want(t, 200, "")
	}
	tag := ada.do(http.MethodGet, at, nil).Header.Get("ETag")
	for _, one := range []struct {
		method, header string
		want           int
	}{{http.MethodGet, "If-None-Match", 304}, {http.MethodPatch, "If-Match", 200}} {
		req, err := http.NewRequestWithContext(t.Context(), one.method, s.URL+at, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{
			"Authorization": {"Bearer " + ada.Token}, "Content-Type": {"application/json"},
			one.header: {`"9.9"`, tag},
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _ = res.Body.Close(); res.StatusCode != one.want {
			t.Errorf("%s with two lines: %d", one.header, res.StatusCode)
		}
	}
}

func TestEverythingSingleHasATagThatMovesWithIt(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	one, two := ada.contact("one@acme.example"), ada.contact("two@acme.example")
	var merge struct{ ID id.ID }
	ada.do(http.MethodPost, contactsPath+"/"+one.ID+"/merge", map[string]any{"loser_ids": []string{two.ID}}).
		want(t, 200, "").into(t, &merge)
	b := ada.settled(http.MethodPost, bulkPath, `{"filter":{"all":[]},"action":{"type":"tag","add":["x"]}}`)
	ada.key(auth.Viewer)
	var keys struct{ Data []struct{ ID id.ID } }
	ada.do(http.MethodGet, "/api/v1/api-keys", nil).into(t, &keys)
	for path, change := range map[string]func(){
		mergesPath + "/" + merge.ID.String(): func() {
			ada.do(http.MethodPost, mergesPath+"/"+merge.ID.String()+"/undo", nil).want(t, 200, "")
		},
		bulkPath + "/" + b.ID:                     nil,
		"/api/v1/ai/score-model/versions/prior-1": nil,
		"/api/v1/api-keys/" + keys.Data[0].ID.String(): func() {
			ada.exec("UPDATE api_key SET last_used_at = now()")
		},
	} {
		tag := ada.do(http.MethodGet, path, nil).want(t, 200, "").Header.Get("ETag")
		ada.do(http.MethodGet, path, nil, "If-None-Match", tag).want(t, 304, "")
		if change == nil {
			continue
		}
		if change(); ada.do(http.MethodGet, path, nil, "If-None-Match", tag).Status != 200 {
			t.Errorf("%s: still %s", path, tag)
		}
	}
}

func TestProblemsSayInOurWordsWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	c, hook := ada.contact("ada@acme.example"), ada.hook("")
	for _, one := range []struct{ method, path, body, place, code string }{
		{
			http.MethodPost, contactsPath + "/" + c.ID + "/merge", `{"loser_ids":["` + c.ID + `","x"]}`,
			"#/loser_ids/1",
			"invalid_uuid",
		},
		{http.MethodGet, contactsPath + "?created_after=2020", "", "created_after", "invalid_format"},
		{http.MethodPatch, hooksPath + "/" + hook.ID, `{"id":"zz"}`, "#/id", "read_only"},
		{http.MethodPatch, hooksPath + "/" + hook.ID, `{"created_at":"x"}`, "#/created_at", "read_only"},
		{http.MethodPatch, hooksPath + "/" + hook.ID, `{"updated_at":7}`, "#/updated_at", "read_only"},
		{http.MethodPost, "/api/v1/crm/fields", `{"key":"..","type":"string"}`, "#/key", "invalid_key"},
		{
			http.MethodPost, contactsPath,
			`{"email":"b@acme.example","first_name":"B","last_name":"B","attributes":{".":"x"}}`, "#/attributes/.",
			"invalid_key",
		},
	} {
		got := ada.do(one.method, one.path, one.body)
		var p struct {
			Errors []struct{ Pointer, Parameter, Code, Detail string }
		}
		got.into(t, &p)
		if len(p.Errors) != 1 {
			t.Errorf("%s %s %s: %d errors, want 1: %s", one.method, one.path, one.body, len(p.Errors), got.Body)
			continue
		}
		e := p.Errors[0]
		if place := e.Pointer + e.Parameter; place != one.place || e.Code != one.code {
			t.Errorf("%s %s %s: %s %s, want %s %s", one.method, one.path, one.body, place, e.Code, one.place, one.code)
		}
		if strings.Contains(e.Detail, "2006") {
			t.Errorf("%s %s %s: the detail has a layout of Go: %s", one.method, one.path, one.body, e.Detail)
		}
	}
	same := ada.do(http.MethodGet, hooksPath+"/"+hook.ID, nil)
	ada.do(http.MethodPatch, hooksPath+"/"+hook.ID, same.Body).want(t, 200, "")
}

func TestStagesThatAreClearedAreTheFirstOnesAgain(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	stages := func(got answer) string {
		t.Helper()
		var o struct{ Settings struct{ Stages []string } }
		got.want(t, 200, "").into(t, &o)
		b, _ := json.Marshal(o.Settings.Stages)
		return string(b)
	}
	first := stages(ada.do(http.MethodGet, "/api/v1/org", nil))
	if now := stages(ada.do(http.MethodPatch, "/api/v1/org",
		`{"settings":{"stages":["lead","z"]}}`)); now != `["lead","z"]` {
		t.Error(now)
	}
	if now := stages(ada.do(http.MethodPatch, "/api/v1/org", `{"settings":{"stages":null}}`)); now != first ||
		!strings.Contains(now, `"lead"`) {
		t.Errorf("cleared: %s, first %s", now, first)
	}
}

func TestEveryListOfTheOrgsOwnThingsCountsThem(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	one, two := ada.contact("one@acme.example", `,"tag":["a","b"],"attributes":{"plan":"pro","size":3}`),
		ada.contact("two@acme.example", `,"tag":"c"`)
	ada.do(http.MethodPost, contactsPath+"/"+one.ID+"/merge", map[string]any{"loser_ids": []string{two.ID}}).
		want(t, 200, "")
	gone := ada.contact("gone@acme.example", `,"tag":"gone"`)
	ada.do(http.MethodDelete, contactsPath+"/"+gone.ID, nil).want(t, 204, "")
	ada.do(http.MethodPost, bulkPath, `{"filter":{"all":[]},"action":{"type":"archive"},"dry_run":true}`).
		want(t, 202, "")
	ada.do(http.MethodPost, exportsPath, `{"format":"csv"}`).want(t, 202, "")
	ada.send(nil, "file", "email\nx@acme.example\n").want(t, 202, "")
	for path, want := range map[string]int{
		"/api/v1/crm/fields": 2, tagsPath: 3, mergesPath: 1, mergesPath + "?contact_id=" + two.ID: 0, bulkPath: 1,
		exportsPath: 1, importsPath: 1, "/api/v1/ai/score-model/versions": 0,
	} {
		glue := "?"
		if strings.Contains(path, "?") {
			glue = "&"
		}
		for _, how := range []string{"exact", "estimate"} {
			var page struct{ Total *int }
			if ada.do(http.MethodGet, path+glue+"count="+how, nil).want(t, 200, "").
				into(t, &page); page.Total == nil || *page.Total != want {
				t.Errorf("%s %s: %v, want %d", path, how, page.Total, want)
			}
		}
		var page struct{ Total *int }
		if ada.do(http.MethodGet, path, nil).into(t, &page); page.Total != nil {
			t.Errorf("%s: counted without being asked to", path)
		}
	}
}
