package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheFeedIsAlsoReadNewestFirstByPages(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada, bob := s.signup(), s.signup()
	first := ada.contact("ada@example.com")
	bob.contact("bob@example.com")
	ada.do(http.MethodPatch, contactsPath+"/"+first.ID, `{"stage":"sql"}`).want(t, 200, "")
	ada.do(http.MethodDelete, contactsPath+"/"+first.ID, nil).want(t, 204, "")
	ada.tail("", 3) // until the feed has all of them

	type page struct {
		Data       []struct{ Type string }
		HasMore    bool   `json:"has_more"`
		NextCursor string `json:"next_cursor"`
	}
	read := func(query string) (p page, types []string) {
		ada.do(http.MethodGet, "/api/v1/events?"+query, nil).want(t, 200, "").into(t, &p)
		for _, e := range p.Data {
			types = append(types, e.Type)
		}
		return p, types
	}
	newest, two := read("sort=-seq&limit=2")
	last, one := read("sort=-seq&limit=2&cursor=" + newest.NextCursor)
	want := []string{"contact.archived", "contact.updated", "contact.created"}
	if diff := cmp.Diff(want, slices.Concat(two, one)); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	if !newest.HasMore || last.HasMore {
		t.Errorf("has_more %v, then %v", newest.HasMore, last.HasMore)
	}
	_, of := read("sort=-seq&type=contact.created,contact.updated")
	if diff := cmp.Diff(want[1:], of); diff != "" {
		t.Errorf("types of a filter (-want +got):\n%s", diff)
	}
	ada.do(http.MethodGet, "/api/v1/events?cursor="+newest.NextCursor, nil).want(t, 400, "invalid_cursor")
	ada.do(http.MethodGet, "/api/v1/events?sort=seq.", nil).want(t, 400, "invalid_parameter")
}
