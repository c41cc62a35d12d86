package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
)

const companiesPath = "/api/v1/crm/companies"

// company has the members of a company that tests check.
type company struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	Domain     *string `json:"domain"`
	CreatedAt  string  `json:"created_at"`
	UpdatedAt  string  `json:"updated_at"`
	ArchivedAt *string `json:"archived_at"`
}

func (c *caller) firm(body string) (out company) {
	c.Helper()
	c.do(http.MethodPost, companiesPath, body).want(c, 201, "").into(c, &out)
	return out
}

// names reads a list in pages of two and returns the names of its rows.
func (c *caller) names(path, query string) string {
	c.Helper()
	var out []string
	for cursor := ""; ; {
		var p struct {
			Data []struct {
				Name, Title, Body string
			} `json:"data"`
			NextCursor *string `json:"next_cursor"`
		}
		c.do(http.MethodGet, path+"?limit=2&"+query+cursor, nil).want(c, 200, "").into(c, &p)
		for _, d := range p.Data {
			out = append(out, d.Name+d.Title+d.Body)
		}
		if p.NextCursor == nil {
			return strings.Join(out, " ")
		}
		cursor = "&cursor=" + *p.NextCursor
	}
}

// told counts an org's events by type, without those of contacts.
func (c *caller) told() map[string]int {
	c.Helper()
	counts := c.effects(c.Org)
	for what := range counts {
		if strings.HasPrefix(what, "contact.") || !strings.Contains(what, ".") || what == "lead.score" ||
			what == "score.train" || what == "quota.announce" {
			delete(counts, what)
		}
	}
	return counts
}

func TestACompanyIsCreatedReadChangedArchivedAndRestored(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	made := ada.do(http.MethodPost, companiesPath,
		`{"name":"Acme Ltd","domain":"ACME.example.","industry":"Anvils","size":"11-50"}`).want(t, 201, "")
	var c company
	made.into(t, &c)
	at := companiesPath + "/" + c.ID
	if location, tag := made.Header.Get("Location"), made.Header.Get("ETag"); location != at || tag != `"1.0"` {
		t.Errorf("Location %q, ETag %q; want %q, %q", location, tag, at, `"1.0"`)
	}
	if *c.Domain != "acme.example" {
		t.Errorf("domain %s, want acme.example", *c.Domain)
	}
	if read := ada.do(http.MethodGet, at, nil).want(t, 200, ""); string(read.Body) != string(made.Body) {
		t.Errorf("read %s, created %s", read.Body, made.Body)
	}
	ada.do(http.MethodGet, at, nil, "If-None-Match", `"1.0"`).want(t, 304, "")
	changed := ada.do(http.MethodPatch, at, `{"name":"Acme","industry":null}`, "If-Match", `"1.0"`).want(t, 200, "")
	if tag := changed.Header.Get("ETag"); tag != `"2.0"` {
		t.Errorf("ETag %q, want %q", tag, `"2.0"`)
	}
	for _, part := range []string{`"industry":null`, `"size":"11-50"`} {
		if !strings.Contains(string(changed.Body), part) {
			t.Errorf("no %s in %s", part, changed.Body)
		}
	}
	ada.do(http.MethodPatch, at, `{"name":"A"}`, "If-Match", `"1.0"`).want(t, 412, "precondition_failed")
	for _, same := range []string{`{}`, string(changed.Body)} {
		if got := ada.do(http.MethodPatch, at, same).want(t, 200, ""); got.Header.Get("ETag") != `"2.0"` ||
			string(got.Body) != string(changed.Body) {
			t.Errorf("%s answered %v %s", same, got.Header, got.Body)
		}
	}
	var taken struct {
		ExistingID string `json:"existing_id"`
	}
	if ada.do(http.MethodPost, companiesPath, `{"name":"Other","domain":"acme.EXAMPLE"}`).
		want(t, 409, "company_exists").into(t, &taken); taken.ExistingID != c.ID {
		t.Errorf("existing_id %q, want %s", taken.ExistingID, c.ID)
	}
	ada.do(http.MethodDelete, at, nil, "If-Match", `"1.0"`).want(t, 412, "")
	ada.do(http.MethodDelete, at, nil, "If-Match", `"2.0"`).want(t, 204, "")
	ada.do(http.MethodDelete, at, nil, "If-Match", `"2.0"`).want(t, 204, "")
	ada.do(http.MethodGet, at, nil).want(t, 404, "not_found")
	ada.do(http.MethodPatch, at, `{"phone":"1"}`).want(t, 404, "not_found")
	ada.do(http.MethodGet, at+"?include_archived=true", nil).want(t, 200, "").into(t, &c)
	if c.ArchivedAt == nil {
		t.Error("no archived_at")
	}
	heir := ada.firm(`{"name":"Heir","domain":"acme.example"}`)
	if ada.do(http.MethodPost, at+"/restore", nil).want(t, 409, "company_exists").
		into(t, &taken); taken.ExistingID != heir.ID {
		t.Errorf("existing_id %q, want %s", taken.ExistingID, heir.ID)
	}
	ada.do(http.MethodPatch, companiesPath+"/"+heir.ID, `{"domain":null}`).want(t, 200, "")
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
	ada.do(http.MethodPatch, companiesPath+"/"+heir.ID, `{"domain":"acme.example"}`).want(t, 409, "company_exists")
	if diff := cmp.Diff(map[string]int{
		"company.created": 2, "company.updated": 2, "company.archived": 1,
		"company.restored": 1,
	}, ada.told()); diff != "" {
		t.Error(diff)
	}
	s.signup().do(http.MethodGet, at, nil).want(t, 404, "not_found")
	ada.as(auth.Viewer).do(http.MethodPatch, at, `{}`).want(t, 403, "forbidden")
	ada.do(http.MethodGet, companiesPath+"/7", nil).want(t, 404, "not_found")
}

func TestWhatACompanyBodyMayNotBe(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	for body, want := range map[string]string{
		`{}`:                              "#/name required",
		`{"name":" "}`:                    "#/name required",
		`{"name":null}`:                   "#/name not_nullable",
		`{"name":"a\u0007"}`:              "#/name invalid_characters",
		`{"name":"A","domain":"acme"}`:    "#/domain invalid_domain",
		`{"name":"A","domain":"1.2.3.4"}`: "#/domain invalid_domain",
		`{"name":"A","domain":"a b.co"}`:  "#/domain invalid_domain",
		`{"name":"A","owner_id":"7"}`:     "#/owner_id invalid_uuid",
		`{"name":"A","nick":"x"}`:         "#/nick unknown_field",
		`{"name":"A","created_at":"2020-01-01T00:00:00Z"}`: "#/created_at read_only",
		`{"name":"` + strings.Repeat("a", 201) + `"}`:      "#/name too_long",
	} {
		if got := ada.do(http.MethodPost, companiesPath, body).want(t, 422, "validation_failed"); got.field() != want {
			t.Errorf("%s: %s, want %s", body, got.field(), want)
		}
	}
}

func TestListsOfCompaniesFilterSortAndCount(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	owner := id.New().String()
	ada.firm(`{"name":"delta","domain":"delta.example"}`)
	ada.firm(`{"name":"Beta","domain":"b-works.example","owner_id":"` + owner + `"}`)
	ada.firm(`{"name":"Ärger"}`)
	ada.firm(`{"name":"alpha","domain":"alpha.test"}`)
	gone := ada.firm(`{"name":"gone"}`)
	ada.do(http.MethodDelete, companiesPath+"/"+gone.ID, nil).want(t, 204, "")
	s.signup().firm(`{"name":"foreign","domain":"delta.example"}`)
	for query, want := range map[string]string{
		"":                          "alpha Ärger Beta delta",
		"sort=created_at":           "delta Beta Ärger alpha",
		"sort=name":                 "alpha Beta delta Ärger",
		"q=BET":                     "Beta",
		"q=works+exam":              "Beta",
		"q=%C3%A4r":                 "Ärger",
		"q=eta":                     "",
		"q=exa&sort=name":           "Beta delta",
		"domain=ALPHA.test":         "alpha",
		"owner_id=" + owner:         "Beta",
		"archived=true":             "gone",
		"archived=true&sort=name":   "gone",
		"q=exa&owner_id=" + owner:   "Beta",
		"owner_id=" + gone.ID:       "",
		"q=gone&archived=true":      "gone",
		"q=gone":                    "",
		"sort=name&archived=false":  "alpha Beta delta Ärger",
		"domain=beta.example&q=bet": "",
	} {
		if got := ada.names(companiesPath, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
		for _, how := range []string{"exact", "estimate"} {
			var p struct{ Total *int64 }
			ada.do(http.MethodGet, companiesPath+"?count="+how+"&"+query, nil).want(t, 200, "").into(t, &p)
			if p.Total == nil || *p.Total != int64(len(strings.Fields(want))) {
				t.Errorf("%s: %s count %v", query, how, p.Total)
			}
		}
	}
	for _, query := range []string{
		"limit=0", "sort=-name", "owner_id=7", "domain=x", "q=%21", "color=red",
		"cursor=abc", "q=a+b+c+d+e+f+g+h+i",
	} {
		ada.do(http.MethodGet, companiesPath+"?"+query, nil).want(t, 400, "")
	}
}

func TestABatchOfCompaniesAnswersEachRowInOrder(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	known := ada.firm(`{"name":"Known","domain":"known.example"}`)
	plain := ada.firm(`{"name":"Plain"}`)
	ada.firm(`{"name":"Twin"}`)
	ada.firm(`{"name":"twin"}`)
	foreign := s.signup().firm(`{"name":"Foreign"}`)
	out := ada.batch(companiesPath, "companies", []string{
		`{"name":"New","domain":"new.example","created_at":"2025-02-03T04:05:06Z"}`,
		`{"domain":"KNOWN.example","phone":"1"}`,
		`{"id":"` + known.ID + `","name":"Known Ltd"}`,
		`{"name":"PLAIN","phone":"2"}`,
		`{"name":"Plain"}`,
		`{"name":"twin","phone":"3"}`,
		`{"phone":"4"}`,
		`{"domain":"nameless.example"}`,
		`{"domain":"bad","name":"x"}`,
		`{"id":"` + foreign.ID + `","phone":"1"}`,
		`{"id":"` + plain.ID + `","domain":"new.example"}`,
		`{"id":"` + known.ID + `","created_at":"2020-01-01T00:00:00Z"}`,
		`{"name":"odd","phon":"1"}`,
		`{"domain":"new.example","name":"New","phone":"5"}`,
		`{"id":"` + known.ID + `","domain":"moved.example"}`,
		`{"name":"Heir","domain":"known.example"}`,
		`null`,
	})
	if diff := cmp.Diff([]string{
		"created", "updated", "updated", "updated", "unchanged", "error conflict",
		"error validation_failed #/companies/6/name required",
		"error validation_failed #/companies/7/name required",
		"error validation_failed #/companies/8/domain invalid_domain",
		"error not_found", "error company_exists",
		"error validation_failed #/companies/11/created_at read_only",
		"error validation_failed #/companies/12/phon unknown_field",
		"updated", "updated", "created",
		"error validation_failed #/companies/16 invalid_type",
	}, out.text); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int{"company.created": 6, "company.updated": 2}, ada.told()); diff != "" {
		t.Error(diff)
	}
	var made company
	got := ada.do(http.MethodGet, companiesPath+"/"+out.ids[0], nil).want(t, 200, "")
	if got.into(t, &made); made.CreatedAt != "2025-02-03T04:05:06.000000Z" || got.Header.Get("ETag") != `"1.0"` {
		t.Errorf("%+v %v", made, got.Header)
	}
	if got := ada.do(http.MethodGet, companiesPath+"/"+known.ID, nil); got.Header.Get("ETag") != `"2.0"` {
		t.Errorf("three rows about one company: %v", got.Header)
	}
	for _, body := range []string{
		`[]`, `{}`, `{"companies":[]}`, `{"companies":[{}],"more":1}`,
		`{"companies":[` + strings.Repeat(`{},`, 1000) + `{}]}`,
	} {
		ada.do(http.MethodPost, companiesPath+"/batch", body).want(t, 422, "validation_failed")
	}
}

type batchOut struct {
	text []string // result, code and pointers
	ids  []string
}

// batch sends rows and returns the outcome of each.
func (c *caller) batch(path, member string, rows []string) (out batchOut) {
	c.Helper()
	var got struct {
		Data []struct {
			Index  int
			ID     *string
			Result string
			Error  *struct {
				Code   string
				Errors []struct{ Pointer, Code string }
			}
		}
	}
	c.do(http.MethodPost, path+"/batch", `{"`+member+`":[`+strings.Join(rows, ",")+`]}`).want(c, 200, "").into(c, &got)
	for i, r := range got.Data {
		text, made := r.Result, ""
		if r.Error != nil {
			text += " " + r.Error.Code
			for _, e := range r.Error.Errors {
				text += " " + e.Pointer + " " + e.Code
			}
		}
		if r.ID != nil {
			made = *r.ID
		}
		if r.Index != i || (r.ID == nil) != (r.Result == "error") {
			c.Errorf("row %d: %+v", i, r)
		}
		out.text, out.ids = append(out.text, text), append(out.ids, made)
	}
	return out
}
