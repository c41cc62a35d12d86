package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type filterField struct {
	Field     string   `json:"field"`
	Type      string   `json:"type"`
	Operators []string `json:"operators"`
	Values    []string `json:"values"`
}

func (c *caller) filterFields() (all []filterField) {
	c.Helper()
	var l struct {
		Data []filterField `json:"data"`
	}
	c.do(http.MethodGet, "/api/v1/crm/filter-fields", nil).want(c, 200, "").into(c, &l)
	return l.Data
}

func TestEveryListedFieldAndOperatorIsTakenByAFilterAndNoOther(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	ada.contact(
		"ada@acme.example",
		`,"tag":["vip","new"],"segment":"board",
		"attributes":{"seats":3,"paid":true,"since":"2026-01-02","plan":"gold"}`,
	)
	sample := map[string]any{
		"text": "x", "key": "lead", "number": 1.5, "boolean": true, "date": "2026-01-02",
		"time": "2026-01-02T03:04:05Z", "id": ada.Org.String(), "keys": "vip",
	}
	all := []string{
		"eq", "ne", "in", "not_in", "gt", "gte", "lt", "lte", "exists", "starts_with", "contains", "between",
	}
	fields := ada.filterFields()
	for _, f := range fields {
		for _, op := range all {
			value := sample[f.Type]
			switch op {
			case "in", "not_in":
				value = []any{value}
			case "exists":
				value = true
			}
			b, err := json.Marshal(map[string]any{"field": f.Field, "op": op, "value": value})
			if err != nil {
				t.Fatal(err)
			}
			got := ada.do(http.MethodGet, "/api/v1/crm/contacts?filter="+url.QueryEscape(string(b)), nil)
			if listed := slices.Contains(f.Operators, op); listed != (got.Status == 200) {
				t.Errorf("%s %s: listed %t, but the filter answers %d %s", f.Field, op, listed, got.Status, got.Body)
			}
		}
	}
	at := func(name string) *filterField {
		i := slices.IndexFunc(fields, func(f filterField) bool { return f.Field == name })
		if i < 0 {
			t.Fatalf("no field %s", name)
		}
		return &fields[i]
	}
	if diff := cmp.Diff([]string{"new", "vip"}, at("tag").Values); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"board"}, at("segment").Values); diff != "" {
		t.Errorf("segments (-want +got):\n%s", diff)
	}
	if !slices.Contains(at("stage").Values, "evangelist") {
		t.Errorf("stages %v", at("stage").Values)
	}
	if f := at("attributes.since"); f.Type != "date" {
		t.Errorf("attributes.since has type %s", f.Type)
	}
	stranger := s.signup()
	if n := len(stranger.filterFields()); n != len(fields)-4 {
		t.Errorf("an org without custom fields has %d fields, want %d", n, len(fields)-4)
	}
}
