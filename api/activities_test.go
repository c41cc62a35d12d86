package api_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
)

const (
	notesPath = "/api/v1/crm/notes"
	tasksPath = "/api/v1/crm/tasks"
)

type activity struct {
	ID          string  `json:"id"`
	Body        string  `json:"body"`
	AuthorID    *string `json:"author_id"`
	Status      string  `json:"status"`
	Priority    string  `json:"priority"`
	ContactID   *string `json:"contact_id"`
	CompletedAt *string `json:"completed_at"`
	ArchivedAt  *string `json:"archived_at"`
}

func (c *caller) activity(path, body string) (out activity) {
	c.Helper()
	c.do(http.MethodPost, path, body).want(c, 201, "").into(c, &out)
	return out
}

func TestANoteIsWrittenReadChangedArchivedAndRestored(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	contact := ada.contact("ada@acme.example")
	d := ada.deal(`{"name":"Anvils"}`)
	made := ada.do(http.MethodPost, notesPath,
		`{"body":"Asked\nfor a quote","contact_id":"`+contact.ID+`","deal_id":"`+d.ID+`"}`).want(t, 201, "")
	var n activity
	made.into(t, &n)
	at := notesPath + "/" + n.ID
	if location, tag := made.Header.Get("Location"), made.Header.Get("ETag"); location != at || tag != `"1.0"` {
		t.Errorf("Location %q, ETag %q; want %q, %q", location, tag, at, `"1.0"`)
	}
	if *n.AuthorID != ada.User.String() {
		t.Errorf("author %s, want %s", *n.AuthorID, ada.User)
	}
	if got := ada.do(http.MethodGet, at, nil).want(t, 200, ""); string(got.Body) != string(made.Body) {
		t.Errorf("read %s, written %s", got.Body, made.Body)
	}
	if got := ada.do(http.MethodPatch, at, string(made.Body)).want(t, 200, ""); got.Header.Get("ETag") != `"1.0"` {
		t.Errorf("the whole object sent back: %v", got.Header)
	}
	ada.do(http.MethodPatch, at, `{"body":"Asked twice","deal_id":null}`, "If-Match", `"1.0"`).want(t, 200, "").
		into(t, &n)
	ada.do(http.MethodPatch, at, `{"body":"x"}`, "If-Match", `"1.0"`).want(t, 412, "precondition_failed")
	for body, want := range map[string]string{
		`{"body":null}`:              "#/body not_nullable",
		`{"body":" "}`:               "#/body required",
		`{"contact_id":null}`:        "#/contact_id required",
		`{"author_id":null}`:         "#/author_id read_only",
		`{"deal_id":"` + n.ID + `"}`: "#/deal_id unknown_deal",
		`{"body":"` + strings.Repeat("ä", 40_000) + `"}`: "#/body too_long",
		`{"title":"x"}`: "#/title unknown_field",
	} {
		if got := ada.do(http.MethodPatch, at, body).want(t, 422, "validation_failed"); got.field() != want {
			t.Errorf("%.40s: %s, want %s", body, got.field(), want)
		}
	}
	ada.do(http.MethodPost, notesPath, `{"body":"about nothing"}`).want(t, 422, "validation_failed")
	ada.do(http.MethodPost, notesPath, `{"body":"x","contact_id":"`+s.signup().contact("b@acme.example").ID+`"}`).
		want(t, 422, "validation_failed")
	if byKey := ada.key(auth.Member).activity(notesPath,
		`{"body":"`+strings.Repeat("a", 64<<10)+`","company_id":"`+id.New().String()+`"}`); byKey.AuthorID != nil {
		t.Errorf("a key's note is by %s", *byKey.AuthorID)
	}
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	ada.do(http.MethodGet, at, nil).want(t, 404, "not_found")
	ada.do(http.MethodGet, at+"?include_archived=true", nil).want(t, 200, "")
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
	ada.do(http.MethodGet, at, nil).want(t, 200, "")
	if diff := cmp.Diff(map[string]int{"activity.logged": 2, "deal.created": 1}, ada.told()); diff != "" {
		t.Error(diff)
	}
	logged := ada.timeline(contact.ID, "types=activity.logged").Data
	if len(logged) != 1 {
		t.Fatalf("%d entries, want 1: %+v", len(logged), logged)
	}
	if e := logged[0]; e.ObjectID != n.ID || e.Object["text"] != "Asked\nfor a quote" {
		t.Errorf("entry about %s with text %q, want %s and the note's text", e.ObjectID, e.Object["text"], n.ID)
	}
	s.signup().do(http.MethodGet, at, nil).want(t, 404, "not_found")
	ada.as(auth.Viewer).do(http.MethodPost, notesPath, `{"body":"x","contact_id":"`+contact.ID+`"}`).
		want(t, 403, "forbidden")
}

// TestATaskIsCompletedOncePerCompletion sends fifty concurrent completions.
func TestATaskIsCompletedOncePerCompletion(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	contact := ada.contact("ada@acme.example")
	k := ada.activity(tasksPath,
		`{"title":"Call back","contact_id":"`+contact.ID+`","due_at":"2026-12-01T10:00:00+02:00"}`)
	want := k
	want.Status, want.Priority, want.CompletedAt = "open", "normal", nil
	if diff := cmp.Diff(want, k); diff != "" {
		t.Errorf("a new task (-want +got):\n%s", diff)
	}
	at := tasksPath + "/" + k.ID
	rush := func() {
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { ada.do(http.MethodPatch, at, `{"status":"done"}`).want(t, 200, "") })
		}
		wg.Wait()
	}
	rush()
	if ada.do(http.MethodGet, at, nil).into(t, &k); k.CompletedAt == nil || k.Status != "done" {
		t.Errorf("%+v", k)
	}
	ada.do(http.MethodPatch, at, `{"status":"open"}`).want(t, 200, "").into(t, &k)
	if k.CompletedAt != nil {
		t.Errorf("%+v", k)
	}
	rush()
	ada.activity(tasksPath, `{"title":"Done already","status":"done"}`)
	if diff := cmp.Diff(map[string]int{"task.created": 2, "task.completed": 3}, ada.told()); diff != "" {
		t.Error(diff)
	}
	if got := ada.timeline(contact.ID, "").
		types(); got != "task.completed task.completed task.created contact.created" {
		t.Errorf("the timeline has %s", got)
	}
	for body, want := range map[string]string{
		`{"title":null}`:                    "#/title not_nullable",
		`{"status":"maybe"}`:                "#/status not_allowed",
		`{"priority":null}`:                 "#/priority not_nullable",
		`{"due_at":"soon"}`:                 "#/due_at invalid_time",
		`{"due_at":"0001-01-01T00:00:00Z"}`: "#/due_at out_of_range",
		`{"assignee_id":"7"}`:               "#/assignee_id invalid_uuid",
		`{"contact_id":"` + k.ID + `"}`:     "#/contact_id unknown_contact",
		`{"completed_at":null}`:             "#/completed_at read_only",
		`{"done":true}`:                     "#/done unknown_field",
	} {
		if got := ada.do(http.MethodPatch, at, body).want(t, 422, "validation_failed"); got.field() != want {
			t.Errorf("%s: %s, want %s", body, got.field(), want)
		}
	}
}

func TestListsOfNotesAndTasksFilterSortAndCount(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	c, d, company, owner := ada.contact("ada@acme.example").ID, ada.deal(`{"name":"Anvils"}`).ID, id.New().
		String(), id.New().String()
	ada.activity(notesPath, `{"body":"a","contact_id":"`+c+`"}`)
	ada.as(auth.Member).activity(notesPath, `{"body":"b","deal_id":"`+d+`"}`)
	ada.activity(notesPath, `{"body":"c","company_id":"`+company+`","contact_id":"`+c+`"}`)
	gone := ada.activity(notesPath, `{"body":"gone","contact_id":"`+c+`"}`)
	ada.do(http.MethodDelete, notesPath+"/"+gone.ID, nil).want(t, 204, "")
	ada.activity(tasksPath,
		`{"title":"a","contact_id":"`+c+`","due_at":"2026-03-01T00:00:00Z","assignee_id":"`+owner+`"}`)
	ada.activity(tasksPath, `{"title":"b","deal_id":"`+d+`","status":"done"}`)
	ada.activity(tasksPath, `{"title":"c","company_id":"`+company+`","due_at":"2026-01-01T00:00:00Z"}`)
	gone = ada.activity(tasksPath, `{"title":"gone"}`)
	ada.do(http.MethodDelete, tasksPath+"/"+gone.ID, nil).want(t, 204, "")
	for path, all := range map[string]map[string]string{
		notesPath: {
			"": "c b a", "sort=created_at": "a b c", "contact_id=" + c: "c a", "deal_id=" + d: "b",
			"company_id=" + company: "c", "author_id=" + ada.User.String(): "c a",
			"archived=true": "gone", "contact_id=" + c + "&archived=true": "gone", "author_id=" + company: "",
		},
		tasksPath: {
			"": "c b a", "sort=created_at": "a b c", "sort=due_at": "c a b", "contact_id=" + c: "a",
			"deal_id=" + d: "b", "company_id=" + company: "c", "assignee_id=" + owner: "a",
			"status=open": "c a", "status=done": "b", "due_after=2026-01-01T00:00:00Z": "a",
			"due_before=2026-03-01T00:00:00Z": "c", "archived=true&sort=due_at": "gone",
			"status=open&sort=due_at": "c a", "assignee_id=" + owner + "&status=open": "a",
		},
	} {
		for query, want := range all {
			if got := ada.names(path, query); got != want {
				t.Errorf("%s?%s: %q, want %q", path, query, got, want)
			}
			for _, how := range []string{"exact", "estimate"} {
				var p struct{ Total *int64 }
				ada.do(http.MethodGet, path+"?count="+how+"&"+query, nil).want(t, 200, "").into(t, &p)
				if p.Total == nil || *p.Total != int64(len(strings.Fields(want))) {
					t.Errorf("%s?%s: %s count %v", path, query, how, p.Total)
				}
			}
		}
		for _, query := range []string{
			"limit=0", "sort=title", "contact_id=7", "deal_id=7", "color=red",
			"cursor=abc",
		} {
			ada.do(http.MethodGet, path+"?"+query, nil).want(t, 400, "")
		}
	}
}

func TestDealsNotesAndTasksGoWithAMergeAndComeBack(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	keep, lose := ada.contact("keep@acme.example").ID, ada.contact("lose@acme.example").ID
	about := `"contact_id":"` + lose + `"}`
	for path, body := range map[string]string{
		dealsPath: `{"name":"a",`, notesPath: `{"body":"a",`,
		tasksPath: `{"title":"a",`,
	} {
		ada.do(http.MethodPost, path, body+about).want(t, 201, "")
	}
	hold := func(when string, has, lacks string) {
		for _, path := range []string{dealsPath, notesPath, tasksPath} {
			if got := ada.names(path, "contact_id="+has); got != "a" {
				t.Errorf("%s: %s has %q", when, path, got)
			}
			if got := ada.names(path, "contact_id="+lacks); got != "" {
				t.Errorf("%s: the other still has %q of %s", when, got, path)
			}
		}
	}
	hold("before", lose, keep)
	var m struct{ ID string }
	ada.do(http.MethodPost, contactsPath+"/"+keep+"/merge", `{"loser_ids":["`+lose+`"]}`).want(t, 200, "").into(t, &m)
	hold("merged", keep, lose)
	ada.do(http.MethodPost, mergesPath+"/"+m.ID+"/undo", nil).want(t, 200, "")
	hold("undone", lose, keep)
}
