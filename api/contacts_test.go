package api_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const contactsPath = "/api/v1/crm/contacts"

type contact struct {
	ID         string         `json:"id"`
	Email      string         `json:"email"`
	FirstName  string         `json:"first_name"`
	Stage      string         `json:"stage"`
	Tag        []string       `json:"tag"`
	Segment    []string       `json:"segment"`
	Attributes map[string]any `json:"attributes"`
	Phone      *string        `json:"phone"`
	CompanyID  *string        `json:"company_id"`
	LeadScore  float64        `json:"lead_score"`
	CreatedAt  string         `json:"created_at"`
	UpdatedAt  string         `json:"updated_at"`
	ArchivedAt *string        `json:"archived_at"`
}

type contactPage struct {
	Data       []contact `json:"data"`
	HasMore    bool      `json:"has_more"`
	NextCursor *string   `json:"next_cursor"`
	Total      *int64    `json:"total"`
}

func (p contactPage) emails() []string {
	out := []string{}
	for _, c := range p.Data {
		name, _, _ := strings.Cut(c.Email, "@")
		out = append(out, name)
	}
	return out
}

func (c *caller) contact(email string, more ...string) contact {
	c.Helper()
	body := `{"email":"` + email + `","first_name":"Ada","last_name":"Lovelace"` + strings.Join(more, "") + `}`
	var out contact
	c.do(http.MethodPost, contactsPath, body).want(c, 201, "").into(c, &out)
	return out
}

func TestAContactIsCreatedScoredReadChangedArchivedAndRestored(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada := s.signup()
	made := ada.do(http.MethodPost, contactsPath, `{"email":"Ada@Acme.example","first_name":"Ada","last_name":"Lovelace","tag":"vip","segment":["q3"],"company_id":"`+id.New().String()+`","attributes":{"seats":3,"since":"2026-01-01"}}`).want(t, 201, "")
	var c contact
	made.into(t, &c)
	at := contactsPath + "/" + c.ID
	if made.Header.Get("Location") != at || made.Header.Get("ETag") != `"1.0"` || c.Stage != "lead" || !cmp.Equal(c.Tag, []string{"vip"}) || !cmp.Equal(c.Segment, []string{"q3"}) {
		t.Errorf("%v\n%s", made.Header, made.Body)
	}
	if c.LeadScore <= 0 || c.LeadScore >= 100 || math.Abs(c.LeadScore*100-math.Round(c.LeadScore*100)) > 1e-9 {
		t.Errorf("lead_score %v", c.LeadScore)
	}
	read := ada.do(http.MethodGet, at, nil).want(t, 200, "")
	if string(read.Body) != string(made.Body) {
		t.Errorf("read %s, created %s", read.Body, made.Body)
	}
	ada.do(http.MethodGet, at, nil, "If-None-Match", `"1.0"`).want(t, 304, "")
	if got := ada.do(http.MethodHead, at, nil).want(t, 200, ""); got.Header.Get("ETag") != `"1.0"` {
		t.Errorf("HEAD: %v", got.Header)
	}

	changed := ada.do(http.MethodPatch, at, `{"stage":"sql","tag":null,"attributes":{"seats":null}}`, "Content-Type", "application/merge-patch+json", "If-Match", `"1.7"`).want(t, 200, "")
	var after contact
	changed.into(t, &after)
	if changed.Header.Get("ETag") != `"2.0"` || after.Stage != "sql" || len(after.Tag) != 0 || len(after.Attributes) != 1 || after.UpdatedAt == c.UpdatedAt || after.LeadScore <= c.LeadScore {
		t.Errorf("%v %s", changed.Header, changed.Body)
	}
	ada.do(http.MethodPatch, at, `{"stage":"mql"}`, "If-Match", `"1.0"`).want(t, 412, "precondition_failed")
	if got := ada.do(http.MethodPatch, at, `{}`).want(t, 200, ""); got.Header.Get("ETag") != `"2.0"` || string(got.Body) != string(changed.Body) {
		t.Errorf("an empty patch answered %v %s", got.Header, got.Body)
	}
	ada.do(http.MethodPatch, at, string(changed.Body)).want(t, 200, "") // the whole object, read-only fields included

	var score struct {
		Score, Probability       float64
		Confidence, ModelVersion string
		Reasons                  []struct {
			Feature, Value string
			Points         float64
		}
	}
	ada.do(http.MethodGet, at+"/score", nil).want(t, 200, "").into(t, &score)
	sum := 0.0
	for _, r := range score.Reasons {
		sum += r.Points
	}
	if score.Score != after.LeadScore || math.Abs(sum-score.Score) > 1e-9 || score.Confidence != "prior" {
		t.Errorf("%+v of %v; points add up to %v", score, after.LeadScore, sum)
	}

	ada.do(http.MethodDelete, at, nil, "If-Match", `"1.0"`).want(t, 412, "")
	ada.do(http.MethodDelete, at, nil, "If-Match", `"2.0"`).want(t, 204, "")
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	ada.do(http.MethodGet, at, nil).want(t, 404, "not_found")
	ada.do(http.MethodPatch, at, `{"phone":"1"}`).want(t, 404, "not_found")
	ada.do(http.MethodGet, at+"?include_archived=true", nil).want(t, 200, "").into(t, &after)
	if after.ArchivedAt == nil {
		t.Error("no archived_at")
	}
	heir := ada.contact("ADA@acme.example")
	var taken struct {
		ExistingID string `json:"existing_id"`
	}
	if ada.do(http.MethodPost, at+"/restore", nil).want(t, 409, "contact_exists").into(t, &taken); taken.ExistingID != heir.ID {
		t.Errorf("existing_id %q, want %s", taken.ExistingID, heir.ID)
	}
	ada.do(http.MethodPost, contactsPath+"/"+heir.ID+"/purge", nil).want(t, 204, "")
	ada.do(http.MethodGet, contactsPath+"/"+heir.ID+"?include_archived=true", nil).want(t, 404, "not_found")
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
	ada.do(http.MethodGet, at, nil).want(t, 200, "")
	ada.do(http.MethodGet, contactsPath+"/7", nil).want(t, 404, "not_found")
}

func TestWhatAContactBodyMayNotBe(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	names := `"first_name":"Ada","last_name":"Lovelace"`
	for body, want := range map[string]string{
		`{"email":"a@b.co"}`:                                                   "#/first_name required",
		`{"email":5,` + names + `}`:                                            "#/email invalid_type",
		`{"email":null,` + names + `}`:                                         "#/email not_nullable",
		`{"email":"a",` + names + `}`:                                          "#/email invalid_email",
		`{"EMAIL":"a@b.co",` + names + `}`:                                     "#/email required",
		`{"email":"a@b.co","nick":"x",` + names + `}`:                          "#/nick unknown_field",
		`{"email":"a@b.co","tag":[1],` + names + `}`:                           "#/tag invalid_type",
		`{"email":"a@b.co","tag":"a,b",` + names + `}`:                         "#/tag/0 invalid_characters",
		`{"email":"a@b.co","stage":"dream",` + names + `}`:                     "#/stage unknown_stage",
		`{"email":"a@b.co","company_id":"x",` + names + `}`:                    "#/company_id invalid_uuid",
		`{"email":"a@b.co","lead_score":99,` + names + `}`:                     "#/lead_score read_only",
		`{"email":"a@b.co","created_at":"2020-01-01T00:00:00Z",` + names + `}`: "#/created_at read_only",
		`{"email":"a@b.co","attributes":{"x":[1]},` + names + `}`:              "#/attributes/x invalid_type",
		`{"email":"a@b.co","attributes":"x",` + names + `}`:                    "#/attributes invalid_type",
		`{"email":"a\u0000@b.co",` + names + `}`:                               "",
		`{"email":"a@b.co","first_name":"\ud800","last_name":"x"}`:             "",
		`{"email":"a@b.co","attributes":{"x":1e300},` + names + `}`:            "#/attributes/x out_of_range",
		`{"email":"a@b.co","attributes":{"x":1e999},` + names + `}`:            "",
	} {
		got := ada.do(http.MethodPost, contactsPath, body).want(t, 422, "validation_failed")
		if want != "" && got.field() != want {
			t.Errorf("%s: %s, want %s", body, got.field(), want)
		}
	}
	var p contactPage
	ada.do(http.MethodGet, contactsPath+"?count=exact", nil).want(t, 200, "").into(t, &p)
	if len(p.Data) != 0 || *p.Total != 0 {
		t.Errorf("%+v", p)
	}
}

func TestOneAddressOneContactUnderAHundredRequests(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		status = map[int]int{}
		ids    = map[string]int{}
	)
	for range 100 {
		wg.Go(func() {
			got := ada.do(http.MethodPost, contactsPath, `{"email":"ada@acme.example","first_name":"Ada","last_name":"Lovelace"}`)
			var p struct {
				ID         string `json:"id"`
				ExistingID string `json:"existing_id"`
			}
			got.into(t, &p)
			mu.Lock()
			defer mu.Unlock()
			status[got.Status]++
			ids[p.ID+p.ExistingID]++
		})
	}
	wg.Wait()
	if status[201] != 1 || status[409] != 99 || len(ids) != 1 {
		t.Errorf("%v %v", status, ids)
	}
}

func TestOneETagOneWinnerUnderAHundredRequests(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	at := contactsPath + "/" + ada.contact("ada@acme.example").ID
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		status = map[int]int{}
	)
	for i := range 100 {
		wg.Go(func() {
			got := ada.do(http.MethodPatch, at, fmt.Sprintf(`{"phone":"%d"}`, i), "If-Match", `"1.0"`)
			mu.Lock()
			defer mu.Unlock()
			status[got.Status]++
		})
	}
	wg.Wait()
	if diff := cmp.Diff(map[int]int{200: 1, 412: 99}, status); diff != "" {
		t.Error(diff)
	}
}

func TestListsFilterSortAndCount(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	company := id.New().String()
	ada.contact("ann@acme.example", `,"tag":["hot","north"],"company_id":"`+company+`"`)
	ada.contact("bob@mailinator.com", `,"stage":"sql","tag":"north"`)
	ada.contact("cyd@beta.example", `,"segment":"q3","owner_id":"`+company+`"`)
	mid := ada.contact("dan@beta.example", `,"stage":"mql"`)
	ada.contact("eve@beta.example", `,"stage":"subscriber","segment":["q3","q4"]`)
	gone := ada.contact("fay@beta.example")
	ada.do(http.MethodDelete, contactsPath+"/"+gone.ID, nil).want(t, 204, "")
	for query, want := range map[string]string{
		"":                                  "eve dan cyd bob ann",
		"sort=created_at":                   "ann bob cyd dan eve",
		"sort=email":                        "ann bob cyd dan eve",
		"sort=-lead_score":                  "ann dan cyd bob eve",
		"sort=lead_score":                   "eve bob cyd dan ann",
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
	} {
		var p contactPage
		ada.do(http.MethodGet, contactsPath+"?"+query, nil).want(t, 200, "").into(t, &p)
		if got := strings.Join(p.emails(), " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
		for _, how := range []string{"exact", "estimate"} {
			var counted contactPage
			ada.do(http.MethodGet, contactsPath+"?limit=1&count="+how+"&"+query, nil).want(t, 200, "").into(t, &counted)
			if *counted.Total != int64(len(strings.Fields(want))) || counted.HasMore != (len(strings.Fields(want)) > 1) {
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
	for _, query := range []string{"limit=0", "limit=201", "limit=x", "sort=phone", "min_score=NaN", "min_score=x", "company_id=7", "created_after=soon", "archived=maybe", "count=yes", "color=red", "tag=a&tag=b", "cursor=abc", "q=%21%21"} {
		ada.do(http.MethodGet, contactsPath+"?"+query, nil).want(t, 400, "")
	}
	var p contactPage
	ada.do(http.MethodGet, contactsPath+"?limit=1", nil).into(t, &p)
	ada.do(http.MethodGet, contactsPath+"?limit=1&sort=email&cursor="+*p.NextCursor, nil).want(t, 400, "invalid_cursor")
	s.signup().do(http.MethodGet, contactsPath+"?limit=1&cursor="+*p.NextCursor, nil).want(t, 400, "invalid_cursor")
}

func TestWhoMayTouchContacts(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	c := ada.contact("ada@acme.example")
	viewer, member := ada.as(auth.Viewer), ada.key(auth.Member)
	viewer.do(http.MethodGet, contactsPath+"/"+c.ID, nil).want(t, 200, "")
	viewer.do(http.MethodGet, "/api/v1/crm/fields", nil).want(t, 200, "")
	viewer.do(http.MethodPost, contactsPath, `{"email":"b@acme.example","first_name":"B","last_name":"B"}`).want(t, 403, "forbidden")
	viewer.do(http.MethodPatch, contactsPath+"/"+c.ID, `{}`).want(t, 403, "forbidden")
	member.contact("b@acme.example")
	member.do(http.MethodPost, "/api/v1/crm/fields", `{"key":"seats","type":"number"}`).want(t, 403, "forbidden")
	ada.as(auth.Admin).do(http.MethodPost, "/api/v1/crm/fields", `{"key":"seats","type":"number"}`).want(t, 201, "")
	s.stranger().do(http.MethodGet, contactsPath, nil).want(t, 401, "")
}

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
	ada.do(http.MethodPatch, contactsPath+"/"+c.ID, `{"attributes":{"seat count":"three"}}`).want(t, 422, "validation_failed")
	var l struct {
		Data []struct{ Key, Label, Type string } `json:"data"`
	}
	ada.do(http.MethodGet, path, nil).want(t, 200, "").into(t, &l)
	if len(l.Data) != 2 || l.Data[0].Key != "plan" || l.Data[0].Type != "string" || l.Data[1].Label != "Seats" {
		t.Errorf("%+v", l)
	}
	if got := ada.do(http.MethodPatch, path+"/plan", `{"label":"The plan","key":"plan","type":"string"}`, "If-Match", `"1.0"`).want(t, 200, ""); got.Header.Get("ETag") != `"2.0"` {
		t.Errorf("%v", got.Header)
	}
	ada.do(http.MethodPatch, path+"/plan", `{"type":"number"}`).want(t, 422, "validation_failed")
	ada.do(http.MethodPatch, path+"/plan", `{"label":"x"}`, "If-Match", `"1.0"`).want(t, 412, "")
	ada.do(http.MethodDelete, path+"/seat%20count", nil).want(t, 204, "")
	ada.do(http.MethodDelete, path+"/seat%20count", nil).want(t, 204, "")
	ada.do(http.MethodDelete, path+"/nobody", nil).want(t, 404, "not_found")
	ada.do(http.MethodGet, path+"/seat%20count", nil).want(t, 404, "not_found")
	var after contact
	got := ada.do(http.MethodGet, contactsPath+"/"+c.ID, nil).want(t, 200, "")
	got.into(t, &after)
	if diff := cmp.Diff(map[string]any{"plan": "gold"}, after.Attributes); diff != "" || got.Header.Get("ETag") != `"2.0"` {
		t.Errorf("%v %s", got.Header, diff)
	}
	ada.do(http.MethodPatch, contactsPath+"/"+c.ID, `{"attributes":{"seat count":"three"}}`).want(t, 200, "")
}

func TestABatchAnswersEachRowInOrder(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	known := ada.contact("known@acme.example", `,"tag":"old"`)
	foreign := s.signup().contact("foreign@acme.example")
	rows := []string{
		`{"email":"new@acme.example","first_name":"N","last_name":"N","created_at":"2025-02-03T04:05:06Z","stage":"customer"}`,
		`{"email":"KNOWN@acme.example","tag":["hot"]}`,
		`{"id":"` + known.ID + `","phone":"1"}`,
		`{"email":"New@acme.example","first_name":"N"}`,
		`{"email":"bad","first_name":"N","last_name":"N"}`,
		`{"first_name":"N"}`,
		`{"id":"` + foreign.ID + `","phone":"1"}`,
		`{"id":"` + known.ID + `","email":"new@acme.example"}`,
		`{"email":"x@acme.example","first_name":"N","last_name":"N","stage":"dream","attributes":{"a":1}}`,
		`{"email":"y@acme.example","first_name":"N","last_name":"N","attributes":{"a":"text"}}`,
		`{"email":"z@acme.example","first_name":"N","last_name":"N","attributes":{"a":1}}`,
		`{"id":"` + known.ID + `","created_at":"2020-01-01T00:00:00Z"}`,
	}
	var out struct {
		Data []struct {
			Index     int
			ID        *string
			Result    string
			LeadScore *float64 `json:"lead_score"`
			Error     *struct {
				Code   string
				Errors []struct{ Pointer, Code string }
			}
		}
	}
	ada.do(http.MethodPost, contactsPath+"/batch", `{"contacts":[`+strings.Join(rows, ",")+`]}`).want(t, 200, "").into(t, &out)
	var got []string
	for i, r := range out.Data {
		text := r.Result
		if r.Error != nil {
			text += " " + r.Error.Code
			for _, e := range r.Error.Errors {
				text += " " + e.Pointer + " " + e.Code
			}
		}
		if r.Index != i || (r.ID == nil) != (r.Result == "error") || (r.LeadScore == nil) != (r.Result == "error") {
			t.Errorf("row %d: %+v", i, r)
		}
		got = append(got, text)
	}
	if diff := cmp.Diff([]string{
		"created", "updated", "updated", "unchanged",
		"error validation_failed #/contacts/4/email invalid_email",
		"error validation_failed #/contacts/5/email required",
		"error not_found",
		"error contact_exists",
		"error validation_failed #/contacts/8/stage unknown_stage",
		"created",
		"error validation_failed #/contacts/10/attributes/a wrong_type",
		"error validation_failed #/contacts/11/created_at read_only",
	}, got); diff != "" {
		t.Error(diff)
	}
	var made contact
	ada.do(http.MethodGet, contactsPath+"/"+*out.Data[0].ID, nil).into(t, &made)
	if made.CreatedAt != "2025-02-03T04:05:06.000000Z" || made.Stage != "customer" {
		t.Errorf("%+v", made)
	}
	count := func(kind string) (n int) {
		if err := s.DB.App.View(t.Context(), ada.Org, func(tx *postgres.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT count(*) FROM event WHERE type = $1`, []any{kind}, &n)
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if c, u := count("contact.created"), count("contact.updated"); c != 3 || u != 1 {
		t.Errorf("%d created and %d updated events, want 3 and 1", c, u)
	}
	ada.do(http.MethodPost, contactsPath+"/batch", `{"contacts":[]}`).want(t, 422, "")
	ada.do(http.MethodPost, contactsPath+"/batch", `{"contacts":[`+strings.Repeat(`{},`, 1000)+`{}]}`).want(t, 422, "")
}

func TestAThousandRowsInOneBatch(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	send := func(first string) (results map[string]int, took time.Duration) {
		var rows []string
		for i := range 1000 {
			rows = append(rows, fmt.Sprintf(`{"email":"p%d@acme.example","first_name":%q,"last_name":"L","tag":["t%d"]}`, i, first, i%7))
		}
		began := time.Now()
		var out struct {
			Data []struct {
				Index  int
				Result string
			}
		}
		ada.do(http.MethodPost, contactsPath+"/batch", `{"contacts":[`+strings.Join(rows, ",")+`]}`).want(t, 200, "").into(t, &out)
		results = map[string]int{}
		for i, r := range out.Data {
			if r.Index != i {
				t.Fatalf("row %d has index %d", i, r.Index)
			}
			results[r.Result]++
		}
		return results, time.Since(began)
	}
	for _, c := range []struct{ first, want string }{{"A", "created"}, {"A", "unchanged"}, {"B", "updated"}} {
		got, took := send(c.first)
		if got[c.want] != 1000 {
			t.Errorf("%v, want 1000 %s", got, c.want)
		}
		t.Logf("1000 %s in %v", c.want, took)
	}
}
