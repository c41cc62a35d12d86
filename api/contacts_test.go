package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/testkit"
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
	Score      struct {
		Version string `json:"model_version"`
	} `json:"score"`
	CreatedAt  string  `json:"created_at"`
	UpdatedAt  string  `json:"updated_at"`
	ArchivedAt *string `json:"archived_at"`
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

// The process has scored for the org within the last minute, so it does not read which version is in use.
func TestANewContactHasTheScoreOfTheModelInUse(t *testing.T) {
	t.Parallel()
	ada := start(t).signup()
	before := ada.contact("a@acme.example")
	m := scoring.Prior()
	m.Version, m.Intercept = "v1", m.Intercept+1
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	ada.exec(`INSERT INTO score_model (org_id, number, created_at, learned_to, outcomes, model, report)
		VALUES ($1, 1, now(), now(), 1, $2, '{}')`, ada.Org, string(raw))
	ada.exec(`INSERT INTO score_current (org_id, number) VALUES ($1, 1)`, ada.Org)
	single := ada.contact("b@acme.example")
	ada.exec(`UPDATE score_current SET number = 0 WHERE org_id = $1`, ada.Org)
	ada.do(http.MethodPost, contactsPath+"/batch",
		`{"contacts":[{"email":"c@acme.example","first_name":"Ada","last_name":"Lovelace"}]}`).want(t, 200, "")
	batch := ada.contact("d@acme.example")
	if single.LeadScore <= before.LeadScore || batch.LeadScore != before.LeadScore {
		t.Errorf("scores %v, %v, %v; want only the second one higher", before.LeadScore, single.LeadScore,
			batch.LeadScore)
	}
	if n := ada.effects(ada.Org)["lead.score"]; n != 0 {
		t.Errorf("%d scoring jobs", n)
	}
	rows, err := testkit.Pgx(t, ada.DB.URL).Query(t.Context(), `
		SELECT s.version FROM contact_score s JOIN contact c ON c.org_id = s.org_id AND c.id = s.contact_id
		WHERE s.org_id = $1 AND s.first_version IS NULL ORDER BY c.email`, ada.Org)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	prior := before.Score.Version
	if diff := cmp.Diff([]string{prior, "v1", prior, prior}, got); diff != "" || err != nil {
		t.Errorf("versions of the records, %v (-want +got):\n%s", err, diff)
	}
}

func TestAContactIsCreatedScoredReadChangedArchivedAndRestored(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada := s.signup()
	made := ada.do(http.MethodPost, contactsPath,
		`{"email":"Ada@Acme.example","first_name":"Ada","last_name":"Lovelace","tag":"vip","segment":["q3"],`+
			`"company_id":"`+id.New().String()+`","attributes":{"seats":3,"since":"2026-01-01"}}`).want(t, 201, "")
	var c contact
	made.into(t, &c)
	at := contactsPath + "/" + c.ID
	if location, tag := made.Header.Get("Location"), made.Header.Get("ETag"); location != at || tag != `"1.0"` {
		t.Errorf("Location %q, ETag %q; want %q, %q", location, tag, at, `"1.0"`)
	}
	want := c
	want.Stage, want.Tag, want.Segment = "lead", []string{"vip"}, []string{"q3"}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	if c.LeadScore <= 0 || c.LeadScore >= 100 {
		t.Errorf("lead_score %v, want one between 0 and 100", c.LeadScore)
	}
	if math.Abs(c.LeadScore*100-math.Round(c.LeadScore*100)) > 1e-9 {
		t.Errorf("lead_score %v, want two decimals", c.LeadScore)
	}
	read := ada.do(http.MethodGet, at, nil).want(t, 200, "")
	if string(read.Body) != string(made.Body) {
		t.Errorf("read %s, created %s", read.Body, made.Body)
	}
	ada.do(http.MethodGet, at, nil, "If-None-Match", `"1.0"`).want(t, 304, "")
	if got := ada.do(http.MethodHead, at, nil).want(t, 200, ""); got.Header.Get("ETag") != `"1.0"` {
		t.Errorf("HEAD: %v", got.Header)
	}

	changed := ada.do(http.MethodPatch, at, `{"stage":"sql","tag":null,"attributes":{"seats":null}}`, "Content-Type",
		"application/merge-patch+json", "If-Match", `"1.7"`).want(t, 200, "")
	var after contact
	changed.into(t, &after)
	if tag := changed.Header.Get("ETag"); tag != `"2.0"` || after.Stage != "sql" {
		t.Errorf("ETag %q, stage %s; want %q, sql", tag, after.Stage, `"2.0"`)
	}
	if len(after.Tag) != 0 || len(after.Attributes) != 1 {
		t.Errorf("tags %v, attributes %v; want none and one", after.Tag, after.Attributes)
	}
	if after.UpdatedAt == c.UpdatedAt {
		t.Errorf("updated_at is still %s", c.UpdatedAt)
	}
	if after.LeadScore <= c.LeadScore {
		t.Errorf("lead_score %v, want one above %v", after.LeadScore, c.LeadScore)
	}
	ada.do(http.MethodPatch, at, `{"stage":"mql"}`, "If-Match", `"1.0"`).want(t, 412, "precondition_failed")
	if got := ada.do(http.MethodPatch, at, `{}`).want(t, 200, ""); got.Header.Get("ETag") != `"2.0"` ||
		string(got.Body) != string(changed.Body) {
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
	if score.Score != after.LeadScore || score.Confidence != "prior" {
		t.Errorf("score %v, confidence %s; want %v, prior", score.Score, score.Confidence, after.LeadScore)
	}
	if math.Abs(sum-score.Score) > 1e-9 {
		t.Errorf("the points of the reasons add up to %v, want %v", sum, score.Score)
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
	if ada.do(http.MethodPost, at+"/restore", nil).want(t, 409, "contact_exists").
		into(t, &taken); taken.ExistingID != heir.ID {
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
			got := ada.do(http.MethodPost, contactsPath,
				`{"email":"ada@acme.example","first_name":"Ada","last_name":"Lovelace"}`)
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
	if status[201] != 1 || status[409] != 99 {
		t.Errorf("statuses %v, want 201 once and 409 99 times", status)
	}
	if len(ids) != 1 {
		t.Errorf("ids %v, want one", ids)
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

func TestWhoMayTouchContacts(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	c := ada.contact("ada@acme.example")
	viewer, member := ada.as(auth.Viewer), ada.key(auth.Member)
	viewer.do(http.MethodGet, contactsPath+"/"+c.ID, nil).want(t, 200, "")
	viewer.do(http.MethodGet, "/api/v1/crm/fields", nil).want(t, 200, "")
	viewer.do(http.MethodPost, contactsPath, `{"email":"b@acme.example","first_name":"B","last_name":"B"}`).
		want(t, 403, "forbidden")
	viewer.do(http.MethodPatch, contactsPath+"/"+c.ID, `{}`).want(t, 403, "forbidden")
	member.contact("b@acme.example")
	member.do(http.MethodPost, "/api/v1/crm/fields", `{"key":"seats","type":"number"}`).want(t, 403, "forbidden")
	ada.as(auth.Admin).do(http.MethodPost, "/api/v1/crm/fields", `{"key":"seats","type":"number"}`).want(t, 201, "")
	s.stranger().do(http.MethodGet, contactsPath, nil).want(t, 401, "")
}

func TestAContactHasACountryAndAConsent(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	type consent struct {
		Basis, At    string
		Source, Text *string
		ConfirmedAt  *string `json:"confirmed_at"`
	}
	var c struct {
		ID      string
		Country *string
		Consent *consent
	}
	made := ada.do(http.MethodPost, contactsPath, `{"email":"eve@acme.example","first_name":"Eve","last_name":"X",`+
		`"country":"de","consent":{"basis":"consent","source":"form","at":"2026-01-02T03:04:05Z"}}`).want(t, 201, "")
	made.into(t, &c)
	at := made.Header.Get("Location")
	if c.Country == nil || *c.Country != "DE" || c.Consent == nil || *c.Consent.Source != "form" ||
		c.Consent.At != "2026-01-02T03:04:05.000000Z" || c.Consent.ConfirmedAt != nil {
		t.Errorf("made %s", made.Body)
	}
	if got := ada.do(http.MethodPatch, at, string(made.Body)).want(t, 200, ""); got.Header.Get("ETag") != `"1.0"` {
		t.Errorf("the whole object sent back: %v", got.Header)
	}
	changed := ada.do(http.MethodPatch, at,
		`{"consent":{"source":null,"confirmed_at":"2026-01-03T00:00:00Z"}}`).want(t, 200, "")
	changed.into(t, &c)
	if c.Consent.Basis != "consent" || c.Consent.Source != nil || c.Consent.ConfirmedAt == nil {
		t.Errorf("changed %s", changed.Body)
	}
	if got := ada.do(http.MethodGet, at, nil).want(t, 200, ""); string(got.Body) != string(changed.Body) {
		t.Errorf("read %s, changed to %s", got.Body, changed.Body)
	}
	ada.contact("bob@acme.example")
	for where, want := range map[string]int{
		`{"field":"country","op":"eq","value":"DE"}`:                                1,
		`{"field":"country","op":"exists","value":false}`:                           1,
		`{"field":"consent_basis","op":"eq","value":"consent"}`:                     1,
		`{"field":"consent_confirmed_at","op":"exists","value":true}`:               1,
		`{"field":"consent_confirmed_at","op":"gt","value":"2026-02-01T00:00:00Z"}`: 0,
		`{"not":{"field":"consent_basis","op":"exists","value":true}}`:              1,
	} {
		var list struct{ Data []struct{ ID string } }
		ada.do(http.MethodGet, contactsPath+"?filter="+url.QueryEscape(where), nil).want(t, 200, "").into(t, &list)
		if len(list.Data) != want {
			t.Errorf("%s finds %d, want %d", where, len(list.Data), want)
		}
	}
	for body, want := range map[string]string{
		`{"country":"XX"}`:                                    "#/country invalid_country",
		`{"country":"Germany"}`:                               "#/country invalid_country",
		`{"consent":{"basis":null}}`:                          "#/consent/basis required",
		`{"consent":{"at":"yesterday"}}`:                      "#/consent/at invalid_time",
		`{"consent":{"confirmed_at":"2999-01-01T00:00:00Z"}}`: "#/consent/confirmed_at out_of_range",
		`{"consent":{"given":true}}`:                          "#/consent/given unknown_field",
	} {
		if got := ada.do(http.MethodPatch, at, body).want(t, 422, "validation_failed"); got.field() != want {
			t.Errorf("%s: %s, want %s", body, got.field(), want)
		}
	}
	ada.do(http.MethodPatch, at, `{"country":null,"consent":null}`).want(t, 200, "").into(t, &c)
	if c.Country != nil || c.Consent != nil {
		t.Errorf("cleared: %+v", c)
	}
}
