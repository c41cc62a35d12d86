package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
)

// TestContactsAreSearchedByConditionsInTheBodyAsInTheAddress compares pages of both, also of a filter that no address
// can have.
func TestContactsAreSearchedByConditionsInTheBodyAsInTheAddress(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	const path = "/api/v1/crm/contacts"
	for n := range 7 {
		ada.do(http.MethodPost, path, fmt.Sprintf(
			`{"email":"p%d@example.test","first_name":"P","last_name":"N%d","tag":["t%d"]}`,
			n, 9-n, n%2)).want(t, 201, "")
	}
	viewer := ada.as(auth.Viewer)
	type page struct {
		Data       []json.RawMessage
		HasMore    bool    `json:"has_more"`
		NextCursor *string `json:"next_cursor"`
		Total      *int
	}
	long := `{"any":[{"field":"tag","op":"in","value":["t0"` + strings.Repeat(`,"t1"`, 49) + `]}]}`
	tag := `{"field":"tag","op":"eq","value":"t0"}`
	for _, tc := range []struct{ query, body string }{
		{"", `{}`},
		{"?limit=3&sort=last_name&count=exact", `{"limit":3,"sort":"last_name","count":"exact"}`},
		{"?limit=2&q=p1", `{"limit":2,"q":"p1"}`},
		{"?limit=2&filter=" + url.QueryEscape(tag), `{"limit":2,"filter":` + tag + `}`},
		{"?archived=true", `{"archived":true}`},
		{"?limit=4", `{"limit":4,"filter":` + long + strings.Repeat(" ", 100<<10) + `}`},
	} {
		var listed, found page
		query, body := tc.query, tc.body
		for n := range 8 {
			ada.do(http.MethodGet, path+query, nil).want(t, 200, "").into(t, &listed)
			viewer.do(http.MethodPost, path+"/search", body).want(t, 200, "").into(t, &found)
			if diff := cmp.Diff(listed.Data, found.Data); diff != "" || listed.HasMore != found.HasMore {
				t.Errorf("page %d of %.60s: has_more %v, want %v\n%s", n, tc.body, found.HasMore, listed.HasMore, diff)
			}
			if diff := cmp.Diff(listed.Total, found.Total); diff != "" {
				t.Errorf("total of %.60s: %s", tc.body, diff)
			}
			if !listed.HasMore || found.NextCursor == nil {
				break
			}
			query = tc.query + "&cursor=" + *listed.NextCursor
			body = `{"cursor":"` + *found.NextCursor + `",` + tc.body[1:]
			if other := viewer.do(http.MethodPost, path+"/search",
				`{"cursor":"`+*found.NextCursor+`","q":"other"}`); other.Status != 400 {
				t.Errorf("a cursor of other conditions: %d %s", other.Status, other.Body)
			}
		}
	}
	for body, field := range map[string]string{
		`{"limit":0}`:               "#/limit out_of_range",
		`{"limit":201}`:             "#/limit out_of_range",
		`{"sort":"name"}`:           "#/sort not_allowed",
		`{"count":"maybe"}`:         "#/count not_allowed",
		`{"q":"!!"}`:                "#/q invalid_format",
		`{"archived":null}`:         "#/archived not_nullable",
		`{"stage":"lead"}`:          "#/stage unknown_field",
		`{"q":"a b c d e f g h i"}`: "#/q too_many",
	} {
		if got := viewer.do(http.MethodPost, path+"/search", body).want(t, 422, ""); got.field() != field {
			t.Errorf("%s: %s, want %s", body, got.field(), field)
		}
	}
	wrong := viewer.do(http.MethodPost, path+"/search", `{"filter":{"field":"tag","op":"near","value":"x"}}`)
	if wrong.want(t, 400, "invalid_filter"); wrong.field() != "#/filter/op unknown_op" {
		t.Errorf("a wrong filter: %s", wrong.Body)
	}
	viewer.do(http.MethodPost, path+"/search", `{"cursor":"x"}`).want(t, 400, "invalid_cursor")
}
