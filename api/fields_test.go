package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCustomFields(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	const path = "/api/v1/crm/fields"
	made := ada.do(http.MethodPost, path, `{"key":"seat count","label":"Seats","type":"number"}`).want(t, 201, "")
	if at := made.Header.Get("Location"); at != path+"/seat%20count" {
		t.Errorf("Location %q", at)
	}
	ada.do(http.MethodPost, path, `{"key":"seat count","type":"string"}`).want(t, 409, "field_exists")
	ada.do(http.MethodPost, path, `{"key":"a/b","type":"string"}`).want(t, 422, "validation_failed")
	ada.do(http.MethodPost, path, `{"key":"x","type":"list"}`).want(t, 422, "validation_failed")
	c := ada.contact("ada@acme.example", `,"attributes":{"seat count":3,"plan":"gold"}`)
	ada.do(http.MethodPatch, contactsPath+"/"+c.ID, `{"attributes":{"seat count":"three"}}`).
		want(t, 422, "validation_failed")
	var l struct {
		Data []struct{ Key, Label, Type string } `json:"data"`
	}
	ada.do(http.MethodGet, path, nil).want(t, 200, "").into(t, &l)
	if len(l.Data) != 2 {
		t.Fatalf("%d fields, want 2: %+v", len(l.Data), l)
	}
	want := l
	want.Data = slices.Clone(l.Data)
	want.Data[0].Key, want.Data[0].Type, want.Data[1].Label = "plan", "string", "Seats"
	if diff := cmp.Diff(want, l); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if got := ada.do(http.MethodPatch, path+"/plan", `{"label":"The plan","key":"plan","type":"string"}`, "If-Match",
		`"1.0"`).want(t, 200, ""); got.Header.Get("ETag") != `"2.0"` {
		t.Errorf("%v", got.Header)
	}
	ada.do(http.MethodPatch, path+"/plan", `{"type":"number"}`).want(t, 422, "validation_failed")
	ada.do(http.MethodPatch, path+"/plan", `{"label":"x"}`, "If-Match", `"1.0"`).want(t, 412, "")
	ada.do(http.MethodPatch, path+"/plan", `{"updated_at":"2020-01-01T00:00:00.000000Z"}`).
		want(t, 422, "validation_failed")
	ada.do(http.MethodPost, path, `{"key":"x","type":"string","created_at":"2020-01-01T00:00:00.000000Z"}`).
		want(t, 422, "validation_failed")
	read := ada.do(http.MethodGet, path+"/plan", nil).want(t, 200, "")
	if back := ada.do(http.MethodPatch, path+"/plan", string(read.Body)).
		want(t, 200, ""); string(back.Body) != string(read.Body) || back.Header.Get("ETag") != `"2.0"` {
		t.Errorf("sending back %s changed it: %s", read.Body, back.Body)
	}
	ada.do(http.MethodDelete, path+"/plan", nil, "If-Match", `"1.0"`).want(t, 412, "precondition_failed")
	ada.do(http.MethodDelete, path+"/nobody", nil, "If-Match", `"1.0"`).want(t, 404, "not_found")
	ada.do(http.MethodDelete, path+"/seat%20count", nil).want(t, 204, "")
	ada.do(http.MethodDelete, path+"/seat%20count", nil).want(t, 204, "")
	ada.do(http.MethodDelete, path+"/nobody", nil).want(t, 404, "not_found")
	ada.do(http.MethodGet, path+"/seat%20count", nil).want(t, 404, "not_found")
	var after contact
	got := ada.do(http.MethodGet, contactsPath+"/"+c.ID, nil).want(t, 200, "")
	got.into(t, &after)
	if diff := cmp.Diff(map[string]any{"plan": "gold"}, after.Attributes); diff != "" ||
		got.Header.Get("ETag") != `"2.0"` {
		t.Errorf("%v %s", got.Header, diff)
	}
	ada.do(http.MethodPatch, contactsPath+"/"+c.ID, `{"attributes":{"seat count":"three"}}`).want(t, 200, "")
}
