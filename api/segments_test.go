package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const segmentsPath = "/api/v1/crm/segments"

// segment is a segment in a response.
type segment struct {
	ID           string          `json:"id"`
	Key          string          `json:"key"`
	Name         string          `json:"name"`
	Kind         string          `json:"kind"`
	Filter       json.RawMessage `json:"filter"`
	ContactCount int             `json:"contact_count"`
	Status       string          `json:"status"`
	ArchivedAt   *string         `json:"archived_at"`
}

// settleSegments runs the waiting segment jobs of every org until none are left.
func settleSegments(t *testing.T, s *service) {
	t.Helper()
	for {
		orgs, err := segments.Waiting(t.Context(), s.DB.System, "segment.sync")
		if err != nil {
			t.Fatal(err)
		}
		if len(orgs) == 0 {
			return
		}
		for _, org := range orgs {
			syncSegments(t, s, org)
		}
	}
}

func syncSegments(t *testing.T, s *service, org id.ID) {
	t.Helper()
	if err := s.DB.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		return segments.Sync(context.WithoutCancel(t.Context()), tx, segments.Usual())
	}); err != nil {
		t.Fatal(err)
	}
}

func TestSegments(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	c := ada.contact("ada@acme.example", `,"stage":"customer","segment":["by hand"]`)
	made := ada.do(http.MethodPost, segmentsPath,
		`{"name":"All customers","filter":{"value":"customer","op":"eq","field":"stage"}}`).want(t, 201, "")
	var seg segment
	made.into(t, &seg)
	want := segment{
		ID: seg.ID, Key: "all-customers", Name: "All customers", Kind: "dynamic",
		Filter: json.RawMessage(`{"field":"stage","op":"eq","value":"customer"}`), Status: "building",
	}
	if diff := cmp.Diff(want, seg); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(segmentsPath+"/"+seg.ID, made.Header.Get("Location")); diff != "" {
		t.Errorf("Location (-want +got):\n%s", diff)
	}
	if tag := made.Header.Get("ETag"); tag != `"1.0"` {
		t.Errorf("ETag %q, want %q", tag, `"1.0"`)
	}
	path := segmentsPath + "/" + seg.ID
	settleSegments(t, s)
	read := ada.do(http.MethodGet, path, nil).want(t, 200, "")
	read.into(t, &seg)
	if seg.Status != "ready" || seg.ContactCount != 1 {
		t.Errorf("status %s, %d contacts; want ready, 1", seg.Status, seg.ContactCount)
	}
	if tag := read.Header.Get("ETag"); !strings.HasPrefix(tag, `"1.`) || tag == `"1.0"` {
		t.Errorf("ETag %q, want a later one of the first edit", tag)
	}
	ada.do(http.MethodGet, path, nil, "If-None-Match", read.Header.Get("ETag")).want(t, 304, "")
	if back := ada.do(http.MethodPatch, path, string(read.Body)).
		want(t, 200, ""); string(back.Body) != string(read.Body) || back.Header.Get("ETag") != read.Header.Get("ETag") {
		t.Errorf("sending back %s changed it: %s", read.Body, back.Body)
	}
	var shown contact
	ada.do(http.MethodGet, contactsPath+"/"+c.ID, nil).want(t, 200, "").into(t, &shown)
	if !slices.Equal(shown.Segment, []string{"by hand", "all-customers"}) {
		t.Errorf("the contact is in %v", shown.Segment)
	}
	listed := func(query string) (n int) {
		t.Helper()
		var l struct{ Data []contact }
		ada.do(http.MethodGet, contactsPath+"?"+query, nil).want(t, 200, "").into(t, &l)
		return len(l.Data)
	}
	if n := listed("segment=all-customers"); n != 1 {
		t.Errorf("its list has %d contacts", n)
	}
	ada.do(http.MethodPatch, contactsPath+"/"+c.ID, `{"segment":"all-customers"}`).want(t, 200, "")
	ada.do(http.MethodPost, contactsPath,
		`{"email":"b@acme.example","first_name":"B","last_name":"B","segment":"all-customers"}`).
		want(t, 422, "validation_failed")

	for body, code := range map[string]string{
		`{"filter":{"field":"segment","op":"eq","value":"x"}}`:           "invalid_filter",
		`{"filter":{"all":[{"field":"stage","op":"like","value":"x"}]}}`: "invalid_filter",
	} {
		problem := ada.do(http.MethodPatch, path, body).want(t, 400, code)
		if !strings.Contains(string(problem.Body), `"pointer":"#/filter/`) {
			t.Errorf("%s", problem.Body)
		}
	}
	ada.do(http.MethodPost, segmentsPath, `{"name":"x","key":"all-customers"}`).want(t, 409, "conflict")
	for _, body := range []string{
		`{"filter":null}`, `{"name":null}`, `{"name":" "}`, `{"key":"other"}`,
		`{"kind":"static"}`, `{"contact_count":7}`, `{"nose":1}`,
	} {
		ada.do(http.MethodPatch, path, body).want(t, 422, "validation_failed")
	}
	for _, body := range []string{
		`{}`, `{"name":"x","kind":"dynamic"}`,
		`{"name":"x","kind":"static","filter":{"field":"stage","op":"eq","value":"x"}}`, `{"name":"x","key":"a,b"}`,
		`{"name":"x","id":"` + seg.ID + `"}`,
	} {
		ada.do(http.MethodPost, segmentsPath, body).want(t, 422, "validation_failed")
	}
	ada.do(http.MethodPatch, path, `{"name":"Old"}`, "If-Match", `"7.0"`).want(t, 412, "precondition_failed")
	ada.do(http.MethodPatch, path, `{"name":"Old","filter":{"field":"stage","op":"ne","value":"customer"}}`,
		"If-Match", `"1.77"`).want(t, 200, "").into(t, &seg)
	want = seg
	want.Status, want.Name, want.Key = "building", "Old", "all-customers"
	if diff := cmp.Diff(want, seg); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	settleSegments(t, s)
	if n := listed("segment=all-customers"); n != 0 {
		t.Errorf("its list has %d contacts under another filter", n)
	}

	ada.do(http.MethodDelete, path, nil, "If-Match", `"1.0"`).want(t, 412, "precondition_failed")
	ada.do(http.MethodDelete, path, nil).want(t, 204, "")
	ada.do(http.MethodDelete, path, nil).want(t, 204, "")
	ada.do(http.MethodGet, path, nil).want(t, 404, "not_found")
	ada.do(http.MethodPatch, path, `{"name":"x"}`).want(t, 404, "not_found")
	ada.do(http.MethodGet, path+"?include_archived=true", nil).want(t, 200, "").into(t, &seg)
	if seg.ArchivedAt == nil {
		t.Errorf("%+v", seg)
	}
	var l struct {
		Data  []segment `json:"data"`
		Total int       `json:"total"`
	}
	for query, keys := range map[string][]string{
		"": {"by hand"}, "?kind=dynamic": {},
		"?archived=true&count=exact": {"all-customers"},
	} {
		ada.do(http.MethodGet, segmentsPath+query, nil).want(t, 200, "").into(t, &l)
		got := []string{}
		for _, x := range l.Data {
			got = append(got, x.Key)
		}
		if !slices.Equal(got, keys) {
			t.Errorf("%q lists %v, want %v", query, got, keys)
		}
	}
	if l.Total > 1 {
		t.Errorf("total %d", l.Total)
	}
	ada.do(http.MethodPost, path+"/restore", nil).want(t, 200, "").into(t, &seg)
	ada.do(http.MethodPost, path+"/restore", nil).want(t, 200, "")
	if seg.ArchivedAt != nil || seg.Status != "building" {
		t.Errorf("%+v", seg)
	}
}
