package api_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"
)

// TestTimesOfBodiesQueriesAndFiltersAreThoseOfRFC3339 gives times in its uncommon forms, and what only looks like one.
func TestTimesOfBodiesQueriesAndFiltersAreThoseOfRFC3339(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	hook := c.hook("").ID
	day := time.Now().UTC().AddDate(0, 0, -2).Format(time.DateOnly)
	for given, want := range map[string]string{
		day + "T05:06:07Z":            day + "T05:06:07.000000Z",
		day + "t05:06:07z":            day + "T05:06:07.000000Z",
		day + "t05:06:07.25+00:00":    day + "T05:06:07.250000Z",
		"2016-12-31T23:59:60Z":        "2017-01-01T00:00:00.000000Z",
		"2017-01-01t00:59:60.5+01:00": "2017-01-01T00:00:00.000000Z",
		day + "T05:06:07,5Z":          "",
		day + "T5:06:07Z":             "",
		day + " 05:06:07Z":            "",
		day + "T05:06:60Z":            "",
		day + "T05:06:07":             "",
	} {
		task := `{"title":"call","due_at":"` + given + `"}`
		query := "/api/v1/crm/contacts?created_after=" + url.QueryEscape(given)
		filter := `{"field":"created_at","op":"gt","value":"` + given + `"}`
		filtered := "/api/v1/crm/contacts?filter=" + url.QueryEscape(filter)
		replay := `{"from":"` + given + `","to":"` + given + `"}`
		if want == "" {
			if got := c.do(http.MethodPost, tasksPath, task).want(t, 422, ""); got.field() != "#/due_at invalid_time" {
				t.Errorf("%s as due_at: %s", given, got.field())
			}
			c.do(http.MethodGet, query, nil).want(t, 400, "invalid_parameter")
			c.do(http.MethodGet, filtered, nil).want(t, 400, "")
			if got := c.do(http.MethodPost, hooksPath+"/"+hook+"/replay", replay); got.Status != 422 {
				t.Errorf("%s as the start of a replay: %d %s", given, got.Status, got.Body)
			}
			continue
		}
		var made struct {
			DueAt string `json:"due_at"`
		}
		c.do(http.MethodPost, tasksPath, task).want(t, 201, "").into(t, &made)
		if made.DueAt != want {
			t.Errorf("%s as due_at: %s, want %s", given, made.DueAt, want)
		}
		c.do(http.MethodGet, query, nil).want(t, 200, "")
		c.do(http.MethodGet, filtered, nil).want(t, 200, "")
		if got := c.do(http.MethodPost, hooksPath+"/"+hook+"/replay", replay); got.field() == "#/from invalid_format" {
			t.Errorf("%s as the start of a replay: %d %s", given, got.Status, got.Body)
		}
	}
}
