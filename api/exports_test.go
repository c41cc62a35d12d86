package api_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
)

func TestAnExportIsMadeAndFetchedByItsLink(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	c.send(nil, "file", "email,first_name,last_name,stage\na@x.test,A,B,lead\nb@x.test,B,B,customer\n").want(t, 202, "")
	c.workFiles()
	var e struct {
		ID, Status string
		Filter     any
		Rows       int
		Link       *string `json:"download_url"`
	}
	where := map[string]any{"field": "stage", "op": "eq", "value": "customer"}
	got := c.as(auth.Viewer).do("POST", exportsPath,
		map[string]any{"format": "csv", "filter": where, "fields": []string{"email", "stage"}}, "Idempotency-Key",
		"k").want(t, 202, "")
	got.into(t, &e)
	if e.Status != "queued" || e.Link != nil {
		t.Errorf("status %s, download_url %v; want queued, none", e.Status, e.Link)
	}
	if diff := cmp.Diff(fmt.Sprint(where), fmt.Sprint(e.Filter)); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
	at := got.Header.Get("Location")
	c.workFiles()
	done := c.do("GET", at, nil).want(t, 200, "")
	done.into(t, &e)
	file := c.download(e.Link).want(t, 200, "")
	if e.Rows != 1 {
		t.Errorf("%d rows, want 1: %s", e.Rows, done.Body)
	}
	if diff := cmp.Diff("email,stage\nb@x.test,customer\n", string(file.Body)); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
	if n := file.Header.Get("Content-Length"); n != fmt.Sprint(len(file.Body)) {
		t.Errorf("Content-Length %s of %d bytes", n, len(file.Body))
	}
	head := c.stranger().do("HEAD", strings.TrimPrefix(*e.Link, c.Deps.PublicURL), nil).want(t, 200, "")
	if head.Header.Get("Content-Length") != fmt.Sprint(len(file.Body)) {
		t.Errorf("%v", head.Header)
	}
	// Another file's token, another kind of file, and a changed bit are invalid links, as is the link of a deleted
	// file.
	token := []byte((*e.Link)[strings.LastIndex(*e.Link, "/")+1:])
	for n := range token {
		other := bytes.Clone(token)
		if other[n]++; other[n] == '[' || other[n] == '{' || other[n] == ':' || other[n] == '.' || other[n] == '`' {
			other[n] = 'A'
		}
		c.stranger().do("GET", "/api/v1/files/"+string(other), nil).want(t, 404, "not_found")
	}
	c.stranger().do("GET", "/api/v1/files/x", nil).want(t, 404, "not_found")
	c.sql(`UPDATE contact_export SET expires_at = now()`)
	c.download(e.Link).want(t, 404, "not_found")

	var nd struct {
		ID   string
		Link *string `json:"download_url"`
	}
	at = c.do("POST", exportsPath, map[string]any{"format": "ndjson", "fields": []string{"email", "tag"}}).
		want(t, 202, "").Header.Get("Location")
	c.workFiles()
	c.do("GET", at, nil).into(t, &nd)
	if file := c.download(nd.Link); string(file.Body) !=
		"{\"email\":\"a@x.test\",\"tag\":[]}\n{\"email\":\"b@x.test\",\"tag\":[]}\n" {
		t.Errorf("%s", file.Body)
	}
	for _, x := range []struct {
		body   any
		status int
		code   string
		field  string
	}{
		{map[string]any{"format": "xml"}, 422, "validation_failed", "#/format not_allowed"},
		{
			map[string]any{"format": "csv", "fields": []string{"attributes"}},
			422, "validation_failed",
			"#/fields/0 unknown_field",
		},
		{
			map[string]any{"format": "csv", "fields": []string{"email", "email"}},
			422, "validation_failed",
			"#/fields/1 duplicate",
		},
		{
			map[string]any{
				"format": "csv",
				"filter": map[string]any{"all": []any{map[string]any{"field": "shoe", "op": "eq", "value": 1}}},
			},
			400,
			"invalid_filter", "#/filter/all/0/field unknown_field",
		},
	} {
		if got := c.do("POST", exportsPath, x.body).
			want(t, x.status, x.code); !strings.HasPrefix(got.field(), strings.Fields(x.field)[0]) {
			t.Errorf("%v: %s", x.body, got.Body)
		}
	}
}

func TestWhenTheTrialHasEndedContactsCanStillBeTakenAlong(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	c.sql(`UPDATE org SET writes_until = now() - interval '1 minute'`)
	c.Deps.Auth.Forget(c.Org, c.User)
	c.send(nil, "file", "email\na@x.test\n").want(t, 402, "trial_ended")
	at := c.do("POST", exportsPath, map[string]any{"format": "csv"}).want(t, 202, "").Header.Get("Location")
	c.workFiles()
	var e struct {
		Link *string `json:"download_url"`
	}
	c.do("GET", at, nil).want(t, 200, "").into(t, &e)
	c.download(e.Link).want(t, 200, "")
}
