package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const mergesPath = "/api/v1/crm/merges"

type mergeBody struct {
	ID        string
	Survivor  string   `json:"survivor_id"`
	Losers    []string `json:"loser_ids"`
	UndoUntil *string  `json:"undo_until"`
	UndoneAt  *string  `json:"undone_at"`
	Contact   contact
}

func TestContactsAreFoldedIntoOneAndTakenApartOverTheAPI(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	keep, lose := ada.contact("keep@acme.example"), ada.contact("lose@acme.example", `,"phone":"123","tag":"hot"`)
	path := contactsPath + "/" + keep.ID + "/merge"
	var m, again, shown mergeBody
	ada.do(http.MethodPost, path, `{"loser_ids":["`+lose.ID+`"]}`, "Idempotency-Key", "m").want(t, 200, "").into(t, &m)
	ada.do(http.MethodPost, path, `{"loser_ids":["`+lose.ID+`"]}`, "Idempotency-Key", "m").want(t, 200, "").
		into(t, &again)
	want := m
	want.ID, want.Survivor, want.Losers = again.ID, keep.ID, []string{lose.ID}
	want.Contact.ID, want.Contact.Tag = keep.ID, []string{"hot"}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("the merge (-want +got):\n%s", diff)
	}
	if m.Contact.Phone == nil || m.UndoUntil == nil {
		t.Errorf("phone %v, undo_until %v; want both", m.Contact.Phone, m.UndoUntil)
	}
	ada.do(http.MethodGet, contactsPath+"/"+lose.ID, nil).want(t, 404, "not_found")
	ada.do(http.MethodGet, contactsPath+"/"+lose.ID+"?include_archived=true", nil).want(t, 200, "")
	ada.do(http.MethodPost, path, `{"loser_ids":["`+lose.ID+`"]}`).want(t, 404, "not_found")
	ada.do(http.MethodGet, mergesPath+"/"+m.ID, nil).want(t, 200, "").into(t, &shown)
	if shown.ID != m.ID || shown.UndoneAt != nil {
		t.Errorf("%+v", shown)
	}
	var timeline struct {
		Data []struct {
			Type   string
			Object map[string]any
		}
	}
	of := func() (types []string) {
		ada.do(http.MethodGet, contactsPath+"/"+keep.ID+"/timeline", nil).want(t, 200, "").into(t, &timeline)
		for _, e := range timeline.Data {
			types = append(types, e.Type)
		}
		return types
	}
	// The survivor's timeline includes the loser's entries; an entry about both appears once.
	if got := of(); !slices.Equal(got,
		[]string{"contact.tagged", "contact.updated", "contact.merged", "contact.created", "contact.created"}) {
		t.Errorf("%v", got)
	}
	ada.do(http.MethodPost, mergesPath+"/"+m.ID+"/undo", nil).want(t, 200, "").into(t, &again)
	if again.UndoneAt == nil || again.UndoUntil != nil {
		t.Errorf("undone_at %v, undo_until %v; want the first alone", again.UndoneAt, again.UndoUntil)
	}
	if again.Contact.Phone != nil || len(again.Contact.Tag) != 0 {
		t.Errorf("phone %v, tags %v; want neither", again.Contact.Phone, again.Contact.Tag)
	}
	ada.do(http.MethodGet, contactsPath+"/"+lose.ID, nil).want(t, 200, "")
	if got := of(); !slices.Equal(got,
		[]string{
			"contact.tagged", "contact.updated", "contact.tagged", "contact.updated", "contact.merged",
			"contact.created",
		}) {
		t.Errorf("%v", got)
	}
	ada.do(http.MethodPost, mergesPath+"/"+m.ID+"/undo", nil).want(t, 409, "conflict")
	var page struct{ Data []mergeBody }
	for query, n := range map[string]int{"": 1, "?contact_id=" + keep.ID: 1, "?contact_id=" + lose.ID: 0} {
		ada.do(http.MethodGet, mergesPath+query, nil).want(t, 200, "").into(t, &page)
		if len(page.Data) != n {
			t.Errorf("%q: %+v", query, page)
		}
	}
	ada.do(http.MethodGet, mergesPath+"?contact_id=x", nil).want(t, 400, "invalid_parameter")
	for body, code := range map[string]string{
		`{"loser_ids":[]}`: "validation_failed", `{}`: "validation_failed",
		`{"loser_ids":["` + keep.ID + `"]}`: "validation_failed",
	} {
		ada.do(http.MethodPost, path, body).want(t, 422, code)
	}
}
