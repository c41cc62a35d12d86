package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamesAreComparedInAnySpelling(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	type contact struct {
		ID         string
		Tag        []string
		Stage      string
		Attributes map[string]any
	}
	create := func(email string, more map[string]any) (c contact) {
		t.Helper()
		more["email"], more["first_name"], more["last_name"] = email, "José", "Öztürk"
		ada.do(http.MethodPost, contactsPath, more).want(t, 201, "").into(t, &c)
		return c
	}
	create("ada@acme.example", map[string]any{
		"tag": []string{"VIP"}, "attributes": map[string]any{"Team size": 3},
	})
	second := create("info@xn--bcher-kva.example", map[string]any{
		"tag": "vip", "stage": "CUSTOMER", "attributes": map[string]any{"team size": 4},
	})
	want := contact{second.ID, []string{"VIP"}, "customer", map[string]any{"Team size": 4.0}}
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("a contact with other spellings (-want +got):\n%s", diff)
	}
	ada.do(http.MethodPost, contactsPath, map[string]any{
		"email": "INFO@bücher.example", "first_name": "A", "last_name": "B",
	}).want(t, 409, "contact_exists")
	ada.do(http.MethodPost, contactsPath, map[string]any{
		"email": "x@acme.example", "first_name": "A", "last_name": "B", "attributes": map[string]any{
			"A b":  1,
			"a  B": 2,
		},
	}).want(t, 422, "validation_failed")
	for _, query := range []string{
		"?tag=vIp", "?q=jose%20ozturk", "?filter=" + url.QueryEscape(`{"field":"tag","op":"eq","value":"Vip"}`),
		"?filter=" + url.QueryEscape(`{"field":"attributes.Team size","op":"gt","value":1}`),
	} {
		var page struct{ Data []contact }
		ada.do(http.MethodGet, contactsPath+query, nil).want(t, 200, "").into(t, &page)
		if len(page.Data) != 2 {
			t.Errorf("%s finds %d contacts, want 2", query, len(page.Data))
		}
	}
}

func TestWhatADefinitionNamesIsRenamedWithItAndCannotBeDeleted(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	ada.do(http.MethodPost, contactsPath, map[string]any{
		"email": "a@acme.example", "first_name": "A", "last_name": "B", "tag": "old",
		"attributes": map[string]any{"plan": "pro"}, "stage": "mql",
	}).want(t, 201, "")
	filter := map[string]any{"all": []any{
		map[string]any{"field": "tag", "op": "in", "value": []string{"OLD", "x"}},
		map[string]any{"field": "attributes.plan", "op": "eq", "value": "pro"},
		map[string]any{"field": "stage", "op": "eq", "value": "mql"},
	}}
	var made segment
	ada.do(http.MethodPost, segmentsPath, map[string]any{"name": "Fans", "filter": filter}).want(t, 201, "").
		into(t, &made)
	settleSegments(t, s)
	ada.do(http.MethodPut, "/api/v1/views/contacts", map[string]any{
		"views": []any{map[string]any{"name": "Mine", "search": map[string]any{"tag": "x,old"}}},
	}).want(t, 200, "")

	var problem struct {
		UsedBy []struct{ Kind, ID, Name string } `json:"used_by"`
	}
	ada.do(http.MethodDelete, tagsPath+"/Old", nil).want(t, 409, "in_use").into(t, &problem)
	if len(problem.UsedBy) != 2 || problem.UsedBy[0].ID != made.ID || problem.UsedBy[0].Name != "Fans" ||
		problem.UsedBy[0].Kind != "segment" || problem.UsedBy[1].Kind != "view" {
		t.Errorf("the tag is used by %+v", problem.UsedBy)
	}
	ada.do(http.MethodDelete, "/api/v1/crm/fields/plan", nil).want(t, 409, "in_use")
	ada.do(http.MethodPatch, "/api/v1/org", map[string]any{"settings": map[string]any{"stages": []string{
		"lead",
		"sql",
	}}}).
		want(t, 409, "in_use")

	got := ada.settled(http.MethodPatch, tagsPath+"/old", `{"name":"new"}`)
	if got.RowsChanged != 1 {
		t.Errorf("%d contacts followed, want 1", got.RowsChanged)
	}
	settleSegments(t, s)
	var shown segment
	ada.do(http.MethodGet, segmentsPath+"/"+made.ID, nil).want(t, 200, "").into(t, &shown)
	var now map[string][]struct{ Value any }
	if err := json.Unmarshal(shown.Filter, &now); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"new", "x"}, now["all"][0].Value); diff != "" || shown.ContactCount != 1 ||
		shown.Status != "ready" {
		t.Errorf("the segment is %+v: %s", shown, diff)
	}
	var events struct{ Data []struct{ Type string } }
	ada.do(http.MethodGet, "/api/v1/events?type=segment.entered,segment.left", nil).want(t, 200, "").into(t, &events)
	if len(events.Data) != 0 {
		t.Errorf("the rename announced %+v", events.Data)
	}
	var views struct {
		Data []struct{ Value json.RawMessage }
	}
	ada.do(http.MethodGet, "/api/v1/views", nil).want(t, 200, "").into(t, &views)
	if len(views.Data) != 1 || string(views.Data[0].Value) != `{"views":[{"name":"Mine","search":{"tag":"x,new"}}]}` {
		t.Errorf("the view is %s", views.Data)
	}
}
