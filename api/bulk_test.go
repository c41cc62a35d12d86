package api_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/contactbulk"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
)

const (
	bulkPath = contactsPath + "/bulk"
	tagsPath = "/api/v1/crm/tags"
)

type bulkBody struct {
	ID          string
	Status      string
	Action      struct{ Type, Tag, To string }
	DryRun      bool  `json:"dry_run"`
	RowsTotal   int64 `json:"rows_total"`
	RowsChanged int64 `json:"rows_changed"`
	RowsFailed  int64 `json:"rows_failed"`
	SampleIDs   []string
}

// asked starts a bulk change and returns its id.
func (c *caller) asked(method, path string, body any) id.ID {
	c.Helper()
	var b bulkBody
	started := c.do(method, path, body).want(c, 202, "")
	started.into(c, &b)
	if started.Header.Get("Location") != bulkPath+"/"+b.ID || b.Status != "queued" {
		c.Errorf("%s: %+v", started.Header.Get("Location"), b)
	}
	which, err := id.Parse(b.ID)
	if err != nil {
		c.Fatal(err)
	}
	return which
}

// step runs only the first step of a bulk change.
func (c *caller) step(which id.ID) {
	c.Helper()
	if err := c.DB.App.Tx(c.Context(), c.Org, func(tx *postgres.Tx) error {
		at, err := bulk.Worker{}.Step(c.Context(), tx, which)
		if at != bulk.More {
			c.Errorf("stage %d after the first step", at)
		}
		return err
	}); err != nil {
		c.Fatal(err)
	}
}

// settled starts a bulk change, runs its job to the end and returns the result.
func (c *caller) settled(method, path string, body any) (b bulkBody) {
	c.Helper()
	which := c.asked(method, path, body)
	job := contactbulk.Job{
		App: c.DB.App, Plans: entitlementsync.Standard(), Scores: c.App.Scores, Pace: contactbulk.Usual(),
	}
	if err := job.Work(c.Context(),
		&queue.Run[contactbulk.Args]{
			Claimed: &queue.Claimed{Org: c.Org, Attempt: 1, MaxAttempts: 50},
			Args:    contactbulk.Args{Bulk: which},
		}); err != nil {
		c.Fatal(err)
	}
	c.do(http.MethodGet, bulkPath+"/"+which.String(), nil).want(c, 200, "").into(c, &b)
	return b
}

// exec runs sql as the database's owner.
func (c *caller) exec(sql string, args ...any) {
	c.Helper()
	if _, err := testkit.Pgx(c, c.DB.URL).Exec(c.Context(), sql, args...); err != nil {
		c.Fatalf("%s: %v", sql, err)
	}
}

func TestABulkChangeIsAskedForFollowedListedAndStopped(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	one, two := ada.contact("one@acme.example", `,"tag":"hot"`), ada.contact("two@acme.example")
	const hot = `{"field":"tag","op":"eq","value":"hot"}`
	dry := ada.settled(http.MethodPost, bulkPath, `{"filter":`+hot+`,"action":{"type":"archive"},"dry_run":true}`)
	want := dry
	want.Status, want.DryRun, want.RowsTotal, want.RowsChanged = "completed", true, 1, 1
	if diff := cmp.Diff(want, dry); diff != "" {
		t.Errorf("the dry run (-want +got):\n%s", diff)
	}
	done := ada.settled(http.MethodPost, bulkPath,
		`{"filter":`+hot+
			`,"action":{"type":"update","patch":{"stage":"sql","phone":null,"tag":"cold","attributes":{"size":3}}}}`)
	want = done
	want.Status, want.RowsTotal, want.RowsChanged = "completed", 1, 1
	if diff := cmp.Diff(want, done); diff != "" {
		t.Errorf("the update (-want +got):\n%s", diff)
	}
	var got contact
	ada.do(http.MethodGet, contactsPath+"/"+one.ID, nil).want(t, 200, "").into(t, &got)
	if got.Stage != "sql" || got.Attributes["size"] != 3.0 {
		t.Errorf("stage %s, size %v; want sql, 3", got.Stage, got.Attributes["size"])
	}
	if diff := cmp.Diff([]string{"cold"}, got.Tag); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	ada.do(http.MethodGet, contactsPath+"/"+two.ID, nil).want(t, 200, "").into(t, &got)
	if got.Stage != "lead" {
		t.Errorf("%+v", got)
	}
	var waiting, stopped bulkBody
	again := ada.do(http.MethodPost, bulkPath, `{"filter":`+hot+`,"action":{"type":"archive"}}`, "Idempotency-Key",
		"k").want(t, 202, "")
	again.into(t, &waiting)
	if twice := ada.do(http.MethodPost, bulkPath, `{"filter":`+hot+`,"action":{"type":"archive"}}`, "Idempotency-Key",
		"k").want(t, 202, ""); string(twice.Body) != string(again.Body) {
		t.Errorf("%s\n%s", again.Body, twice.Body)
	}
	for range 2 {
		ada.do(http.MethodPost, bulkPath+"/"+waiting.ID+"/cancel", nil).want(t, 200, "").into(t, &stopped)
	}
	if stopped.Status != "cancelled" {
		t.Errorf("%+v", stopped)
	}
	ada.do(http.MethodPost, bulkPath+"/"+done.ID+"/cancel", nil).want(t, 409, "conflict")
	var page struct {
		Data       []bulkBody
		HasMore    bool   `json:"has_more"`
		NextCursor string `json:"next_cursor"`
	}
	ada.do(http.MethodGet, bulkPath+"?limit=2", nil).want(t, 200, "").into(t, &page)
	if len(page.Data) != 2 || !page.HasMore {
		t.Fatalf("%d bulk changes, has_more %v; want 2, true", len(page.Data), page.HasMore)
	}
	if diff := cmp.Diff([]string{waiting.ID, done.ID}, []string{page.Data[0].ID, page.Data[1].ID}); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	ada.do(http.MethodGet, bulkPath+"?limit=2&cursor="+page.NextCursor, nil).want(t, 200, "").into(t, &page)
	if len(page.Data) != 1 || page.Data[0].ID != dry.ID {
		t.Errorf("%+v", page)
	}
}

func TestAWrongBulkChangeIsRefusedWithThePlace(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	const all = `{"field":"stage","op":"exists","value":true}`
	for body, want := range map[string]struct {
		status int
		place  string
	}{
		`{"filter":{"all":[` + all + `,{"field":"stage","op":"eq","value":7}]},"action":{"type":"archive"}}`: {
			400,
			"#/filter/all/1/value",
		},
		`{"filter":{"field":"nonsense","op":"eq","value":7},"action":{"type":"archive"}}`: {400, "#/filter/field"},
		`{"action":{"type":"archive"}}`:                                {422, "#/filter"},
		`{"filter":` + all + `,"action":{"type":"explode"}}`:           {422, "#/action/type"},
		`{"filter":` + all + `,"action":{"type":"update"}}`:            {422, "#/action/patch"},
		`{"filter":` + all + `,"action":{"type":"update","patch":{}}}`: {422, "#/action/patch"},
		`{"filter":` + all + `,"action":{"type":"update","patch":{"stage":"nonsense"}}}`: {
			422,
			"#/action/patch/stage",
		},
		`{"filter":` + all + `,"action":{"type":"update","patch":{"email":"a@x.example"}}}`: {
			422,
			"#/action/patch/email",
		},
		`{"filter":` + all + `,"action":{"type":"update","patch":{"lead_score":7}}}`: {
			422,
			"#/action/patch/lead_score",
		},
		`{"filter":` + all + `,"action":{"type":"update","patch":{"first_name":null}}}`: {
			422,
			"#/action/patch/first_name",
		},
		`{"filter":` + all + `,"action":{"type":"tag"}}`:                                      {422, "#/action/add"},
		`{"filter":` + all + `,"action":{"type":"tag","add":["a,b"]}}`:                        {422, "#/action/add/0"},
		`{"filter":` + all + `,"action":{"type":"archive","add":["a"]}}`:                      {422, "#/action/add"},
		`{"filter":` + all + `,"action":{"type":"tag","add":["a"],"patch":{"stage":"lead"}}}`: {422, "#/action/patch"},
	} {
		got := ada.do(http.MethodPost, bulkPath, body)
		if got.Status != want.status || !strings.Contains(string(got.Body), `"pointer":"`+want.place+`"`) {
			t.Errorf("%s: %d %s, want %d at %s", body, got.Status, got.Body, want.status, want.place)
		}
	}
	ada.do(http.MethodGet, bulkPath+"/"+id.New().String(), nil).want(t, 404, "not_found")
	ada.as("viewer").do(http.MethodPost, bulkPath, `{"filter":`+all+`,"action":{"type":"archive"}}`).
		want(t, 403, "forbidden")
}

func TestTagsOfAnySpellingAreListedRenamedAndDeleted(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	odd := []string{
		"a/b", "a b", "a+b", "100%", "a%2Fb", "?x=1&y", "#", "Ünï 漢", "..", `"`, `back\slash`, "a:b",
		"list", "~",
	}
	for i, tag := range odd {
		ada.do(http.MethodPost, contactsPath,
			map[string]any{
				"email": "p" + string(rune('a'+i)) + "@acme.example", "first_name": "A", "last_name": "B",
				"tag": []string{tag, "both"},
			}).want(t, 201, "")
	}
	names := func() (all []string) {
		cursor := ""
		for {
			var page struct {
				Data       []struct{ Name string }
				NextCursor string `json:"next_cursor"`
			}
			ada.do(http.MethodGet, tagsPath+"?limit=4"+cursor, nil).want(t, 200, "").into(t, &page)
			for _, one := range page.Data {
				all = append(all, one.Name)
			}
			if page.NextCursor == "" {
				return all
			}
			cursor = "&cursor=" + page.NextCursor
		}
	}
	want := append([]string{"both"}, odd...)
	slices.Sort(want)
	if got := names(); !slices.Equal(got, want) {
		t.Errorf("%q\n%q", got, want)
	}
	for i, tag := range odd {
		path := tagsPath + "/" + url.PathEscape(tag)
		if i%3 == 0 {
			got := ada.settled(http.MethodDelete, path, nil)
			want := got
			want.Action.Type, want.Action.Tag, want.RowsChanged = "delete_tag", tag, 1
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q deleted (-want +got):\n%s", tag, diff)
			}
			continue
		}
		got := ada.settled(http.MethodPatch, path, map[string]any{"name": " new " + tag + " "})
		want := got
		want.Action.Type, want.Action.Tag, want.Action.To, want.RowsChanged = "rename_tag", tag, "new "+tag, 1
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q renamed (-want +got):\n%s", tag, diff)
		}
		ada.do(http.MethodPatch, path, `{"name":"x"}`).want(t, 404, "not_found")
	}
	if got := ada.settled(http.MethodPatch, tagsPath+"/"+url.PathEscape("new a b"),
		`{"name":"both"}`); got.RowsChanged != 1 {
		t.Errorf("%+v", got)
	}
	var counted struct {
		Data []struct {
			Name     string
			Contacts int
			More     bool
		}
	}
	ada.do(http.MethodGet, tagsPath+"?limit=1", nil).want(t, 200, "").into(t, &counted)
	if len(counted.Data) != 1 {
		t.Fatalf("%d tags, want 1: %+v", len(counted.Data), counted)
	}
	most := counted.Data[0]
	most.Name, most.Contacts, most.More = "both", len(odd), false
	if diff := cmp.Diff(most, counted.Data[0]); diff != "" {
		t.Errorf("the tag of most contacts (-want +got):\n%s", diff)
	}
	for body, status := range map[string]int{
		`{"name":"both"}`: 422, `{"name":""}`: 422, `{"name":"a,b"}`: 422,
		`{}`: 422, `{"name":"` + strings.Repeat("x", 65) + `"}`: 422,
	} {
		ada.do(http.MethodPatch, tagsPath+"/both", body).want(t, status, "validation_failed")
	}
	ada.do(http.MethodDelete, tagsPath+"/nobody", nil).want(t, 404, "not_found")
	ada.do(http.MethodDelete, tagsPath+"/%FF", nil).want(t, 404, "not_found")
}
