package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
)

func TestACursorHoldsForTheSameListHoweverItIsAskedFor(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	ada.contact("ann@acme.example")
	ada.contact("bob@acme.example")
	var p contactPage
	ada.do(http.MethodGet, contactsPath+"?limit=1", nil).want(t, 200, "").into(t, &p)
	for query, status := range map[string]int{
		"": 200, "sort=-created_at": 200, "archived=false": 200, "stage=&tag=": 200, "count=exact": 200,
		"sort=created_at": 400, "archived=true": 400, "filter=" + url.QueryEscape(`{"all":[]}`): 400,
		"stage=lead": 400, "min_score=1": 400,
	} {
		code := map[int]string{400: "invalid_cursor"}[status]
		ada.do(http.MethodGet, contactsPath+"?"+query+"&cursor="+*p.NextCursor, nil).want(t, status, code)
	}
}

func TestListsFilterSortAndCount(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	company := id.New().String()
	ada.contact("ann@acme.example", `,"tag":["hot","north"],"company_id":"`+company+`"`)
	ada.contact("bob@mailinator.com", `,"stage":"sql","tag":"north"`)
	ada.contact("cyd@beta.example", `,"segment":"q3","owner_id":"`+company+`","attributes":{"plan":"Pro"}`)
	mid := ada.contact("dan@beta.example", `,"stage":"mql"`)
	ada.contact("eve@beta.example",
		`,"stage":"subscriber","segment":["q3","q4"],"attributes":{"plan":"pro","seats":12}`)
	gone := ada.contact("fay@beta.example", `,"attributes":{"plan":"pro"}`)
	ada.do(http.MethodDelete, contactsPath+"/"+gone.ID, nil).want(t, 204, "")
	for query, want := range map[string]string{
		"":                                  "eve dan cyd bob ann",
		"sort=created_at":                   "ann bob cyd dan eve",
		"sort=email":                        "ann bob cyd dan eve",
		"sort=-lead_score":                  "ann dan cyd eve bob",
		"sort=lead_score":                   "bob eve cyd dan ann",
		"stage=sql":                         "bob",
		"stage=sql,mql&sort=email":          "bob dan",
		"tag=north":                         "bob ann",
		"tag=hot,nobody's":                  "ann",
		"segment=q3":                        "eve cyd",
		"segment=q4,q3&sort=email":          "cyd eve",
		"q=bet+cy":                          "cyd",
		"q=LOVE":                            "eve dan cyd bob ann",
		"q=ove":                             "",
		"company_id=" + company:             "ann",
		"owner_id=" + company:               "cyd",
		"min_score=20&sort=email":           "ann dan",
		"created_after=" + mid.CreatedAt:    "eve",
		"created_before=" + mid.CreatedAt:   "cyd bob ann",
		"archived=true":                     "fay",
		"tag=north&stage=sql&min_score=0.1": "bob",
		"stage=":                            "eve dan cyd bob ann",
		"filter=" +
			url.QueryEscape(`{"field":"email","op":"starts_with","value":"B"}`): "bob",
		"sort=email&tag=north&filter=" +
			url.QueryEscape(
				`{"any":[{"field":"stage","op":"eq","value":"sql"},{"field":"company_id","op":"exists",`+
					`"value":true}]}`): "ann bob",
		"filter=" +
			url.QueryEscape(`{"all":[{"field":"attributes.plan","op":"eq","value":"PRO"},{"not":{"field":"segment",`+
				`"op":"eq","value":"q4"}}]}`): "cyd",
		"q=beta&sort=-lead_score&filter=" +
			url.QueryEscape(`{"field":"attributes.seats","op":"gte","value":10}`): "eve",
		"archived=true&filter=" + url.QueryEscape(`{"field":"attributes.plan","op":"exists","value":true}`):      "fay",
		"filter=" + url.QueryEscape(`{"field":"last_name","op":"contains","value":"'; DROP TABLE contact; --"}`): "",
	} {
		var p contactPage
		ada.do(http.MethodGet, contactsPath+"?"+query, nil).want(t, 200, "").into(t, &p)
		if got := strings.Join(p.emails(), " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
		for _, how := range []string{"exact", "estimate"} {
			var counted contactPage
			ada.do(http.MethodGet, contactsPath+"?limit=1&count="+how+"&"+query, nil).want(t, 200, "").into(t, &counted)
			if *counted.Total != int64(len(strings.Fields(want))) ||
				counted.HasMore != (len(strings.Fields(want)) > 1) {
				t.Errorf("%s: %s count %d, has_more %v", query, how, *counted.Total, counted.HasMore)
			}
		}
		walked := []string{}
		for cursor := ""; ; {
			var one contactPage
			ada.do(http.MethodGet, contactsPath+"?limit=2&"+query+cursor, nil).want(t, 200, "").into(t, &one)
			walked = append(walked, one.emails()...)
			if one.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + *one.NextCursor
		}
		if got := strings.Join(walked, " "); got != want {
			t.Errorf("%s: walked %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{
		"limit=0", "limit=201", "limit=x", "sort=phone", "min_score=NaN", "min_score=x",
		"company_id=7", "created_after=soon", "archived=maybe", "count=yes", "color=red", "tag=a&tag=b", "cursor=abc",
		"q=%21%21",
	} {
		ada.do(http.MethodGet, contactsPath+"?"+query, nil).want(t, 400, "")
	}
	var p contactPage
	ada.do(http.MethodGet, contactsPath+"?limit=1", nil).into(t, &p)
	ada.do(http.MethodGet, contactsPath+"?limit=1&sort=email&cursor="+*p.NextCursor, nil).want(t, 400, "invalid_cursor")
	s.signup().do(http.MethodGet, contactsPath+"?limit=1&cursor="+*p.NextCursor, nil).want(t, 400, "invalid_cursor")
}

func TestAWrongFilterIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	ada.contact("ann@acme.example", `,"attributes":{"plan":"pro"}`)
	for filter, want := range map[string]struct{ place, code string }{
		`{"all":[{"field":"stage","op":"eq","value":"lead"},{"field":"stage","op":"eq","value":1}]}`: {
			"At /all/1/value: ", "invalid_type",
		},
		`{"not":{"field":"attributes.nobody's","op":"exists","value":true}}`: {"At /not/field: ", "unknown_field"},
		`{"field":"attributes.plan","op":"gt","value":5}`:                    {"At /value: ", "invalid_type"},
		`{"field":"stage","op":"like","value":"x"}`:                          {"At /op: ", "unknown_op"},
		`{"field":"stage","op":"eq","value":"\u0000"}`:                       {"At /value: ", "invalid_value"},
		`stage=lead`: {"This", "malformed_json"},
	} {
		var problem struct {
			Errors []struct{ Parameter, Pointer, Code, Detail string }
		}
		ada.do(http.MethodGet, contactsPath+"?filter="+url.QueryEscape(filter), nil).want(t, 400, "invalid_filter").
			into(t, &problem)
		if len(problem.Errors) != 1 {
			t.Errorf("%s: %+v", filter, problem)
			continue
		}
		e := problem.Errors[0]
		if e.Parameter != "filter" || e.Code != want.code {
			t.Errorf("%s: parameter %s, code %s; want filter, %s", filter, e.Parameter, e.Code, want.code)
		}
		if !strings.HasPrefix(e.Detail, want.place) {
			t.Errorf("%s: detail %q, want prefix %q", filter, e.Detail, want.place)
		}
	}
}
