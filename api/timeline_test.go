package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

type entry struct {
	ID, Type, At string
	Actor        struct{ Type, ID string }
	ObjectID     string         `json:"object_id"`
	Object       map[string]any `json:"object"`
	Changes      map[string]struct{ From, To any }
}

type entryPage struct {
	Data       []entry `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
}

// types returns the types of the entries, without a common prefix.
func (p entryPage) types() string {
	var out []string
	for _, e := range p.Data {
		out = append(out, e.Type)
	}
	return strings.Join(out, " ")
}

func (c *caller) timeline(contact, query string) (p entryPage) {
	c.Helper()
	c.do(http.MethodGet, contactsPath+"/"+contact+"/timeline?"+query, nil).want(c, 200, "").into(c, &p)
	return p
}

func TestATimelineTellsWhatHappenedNewestFirst(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	c := ada.contact("ada@acme.example", `,"attributes":{"seats":3,"since":"2026-01-01"}`)
	at := contactsPath + "/" + c.ID
	ada.do(http.MethodPatch, at,
		`{"stage":"sql","phone":"`+strings.Repeat("1",
			50)+`","attributes":{"seats":4,"since":null,"note":"`+strings.Repeat("ä", 300)+`"}}`).want(t, 200, "")
	ada.do(http.MethodPatch, at, `{"tag":"hot"}`).want(t, 200, "")
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	ada.do(http.MethodGet, at+"/timeline", nil).want(t, 404, "not_found")
	if got := ada.timeline(c.ID, "include_archived=true").types(); !strings.HasPrefix(got, "contact.archived ") {
		t.Errorf("archived: %s", got)
	}
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
	const want = "contact.restored contact.archived contact.tagged contact.updated contact.updated contact.created"
	all := ada.timeline(c.ID, "")
	if got := all.types(); got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	made, edited := all.Data[5], all.Data[4]
	created := made
	created.ObjectID, created.Changes = c.ID, nil
	created.Actor.Type, created.Actor.ID = "user", ada.User.String()
	if diff := cmp.Diff(created, made); diff != "" {
		t.Errorf("the first entry (-want +got):\n%s", diff)
	}
	if made.Object["email"] != "ada@acme.example" {
		t.Errorf("the first entry has the email %v", made.Object["email"])
	}
	if made.At < c.CreatedAt {
		t.Errorf("the first entry is of %s, before the contact's %s", made.At, c.CreatedAt)
	}
	changes := map[string]string{}
	for name, ch := range edited.Changes {
		changes[name] = fmt.Sprint(ch.From, " to ", ch.To)
	}
	delete(changes, "lead_score")
	if diff := cmp.Diff(map[string]string{
		"stage": "lead to sql", "phone": "<nil> to " + strings.Repeat("1", 50), "attributes.seats": "3 to 4",
		"attributes.since": "2026-01-01 to <nil>",
		"attributes.note":  "<nil> to " + strings.Repeat("ä", 199) + "…",
	}, changes); diff != "" {
		t.Error(diff)
	}
	if len(edited.Object) != 6 {
		t.Errorf("an entry keeps %v", edited.Object)
	}

	if got := ada.timeline(c.ID, "types=contact.created,contact.tagged").
		types(); got != "contact.tagged contact.created" {
		t.Errorf("by type: %s", got)
	}
	ada.do(http.MethodGet, at+"/timeline?types=contact.exploded", nil).want(t, 400, "invalid_parameter")
	ada.do(http.MethodGet, contactsPath+"/"+id.New().String()+"/timeline", nil).want(t, 404, "not_found")
	s.signup().do(http.MethodGet, at+"/timeline", nil).want(t, 404, "not_found")
	var walked []string
	for cursor := ""; ; {
		p := ada.timeline(c.ID, "limit=2"+cursor)
		walked = append(walked, p.types())
		if p.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *p.NextCursor
	}
	if got := strings.Join(walked, " "); got != want || len(walked) != 3 {
		t.Errorf("walked %v", walked)
	}
}

// TestTheTimelineOfOldEventsIsWhatItWouldHaveBeen runs the migration's back-fill on events with known entries.
func TestTheTimelineOfOldEventsIsWhatItWouldHaveBeen(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	file, err := os.ReadFile("../migrations/0051_timeline.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, fill, _ := strings.Cut(string(file), "-- +goose StatementBegin")
	fill, _, ok := strings.Cut(fill, "-- +goose StatementEnd")
	if !ok {
		t.Fatal("the migration has no back-fill")
	}
	for range 2 {
		c := s.signup()
		at := contactsPath + "/" +
			c.contact("ada@acme.example", `,"attributes":{"seats":3,"since":"2026-01-01","same":"x"},"tag":"old"`).ID
		for _, patch := range []string{
			`{"stage":"sql","company_id":"` + id.New().String() + `"}`,
			`{"attributes":{"seats":4,"since":null,"more":true}}`, `{"tag":["new"],"phone":"1"}`, `{"phone":null}`,
		} {
			c.do(http.MethodPatch, at, patch).want(t, 200, "")
		}
		c.do(http.MethodDelete, at, nil).want(t, 204, "")
		c.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
		gone := contactsPath + "/" + c.contact("gone@acme.example").ID
		c.do(http.MethodPost, gone+"/purge", nil).want(t, 204, "")
	}
	conn := testkit.Pgx(t, s.DB.URL)
	lines := func() (out []map[string]any) {
		rows, err := conn.Query(t.Context(),
			`SELECT to_json(l)::text FROM timeline l JOIN contact c ON c.org_id = l.org_id AND c.id = l.contact_id
				ORDER BY l.id`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			var line map[string]any
			if err := rows.Scan(&text); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatal(err)
			}
			out = append(out, line)
		}
		return out
	}
	want := lines()
	if len(want) != 2*8 {
		t.Fatalf("%d lines", len(want))
	}
	for _, sql := range []string{`DELETE FROM timeline`, fill} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, lines()); diff != "" {
		t.Error(diff)
	}
}
