package api_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const members = "/api/v1/members"

type seat struct {
	ID     id.ID  `json:"id"`
	Email  string `json:"email"`
	Role   string `json:"role"`
	Status string `json:"status"`
}

func (c *caller) invite(email, role string) seat {
	c.Helper()
	var got seat
	a := c.do(http.MethodPost, members, map[string]any{"email": email, "role": role})
	if a.Status != 200 { // it was pending
		a.want(c, 201, "")
	}
	a.into(c, &got)
	if a.Header.Get("Location") != members+"/"+got.ID.String() || a.Header.Get("ETag") == "" {
		c.Errorf("Location %q, ETag %q", a.Header.Get("Location"), a.Header.Get("ETag"))
	}
	return got
}

func (c *caller) list() map[string]seat {
	c.Helper()
	var l struct{ Data []seat }
	c.do(http.MethodGet, members, nil).want(c, 200, "").into(c, &l)
	out := map[string]seat{}
	for _, m := range l.Data {
		out[m.Email] = m
	}
	return out
}

func TestSomebodyInvitedJoinsUnderTheirOwnPassword(t *testing.T) {
	t.Parallel()
	s := start(t)
	boss := s.signup()
	invited := boss.invite("Bob@example.com", "member")
	if invited.Status != "invited" || invited.Role != "member" {
		t.Errorf("%+v", invited)
	}
	older := s.link("Bob@example.com")
	again := boss.invite("bob@example.com", "admin")
	if again.ID != invited.ID || again.Role != "admin" {
		t.Errorf("invited again: %+v, first %+v", again, invited)
	}
	var page struct {
		Total int
		Data  []seat
	}
	boss.do(http.MethodGet, members+"?limit=1&count=estimate", nil).want(t, 200, "").into(t, &page)
	if page.Total != 2 || len(page.Data) != 1 {
		t.Errorf("%+v: want one of two, the invited counted", page)
	}
	c, token := s.stranger(), s.link("bob@example.com")
	accept := func(token, password string) answer {
		return c.do(http.MethodPost, "/api/v1/auth/accept-invite",
			map[string]any{"token": token, "first_name": "Bob", "last_name": "B", "password": password})
	}
	accept(older, goodPassword).want(t, 422, "link_expired")
	accept("fi_x", goodPassword).want(t, 422, "link_expired")
	accept(token, "short").want(t, 422, "validation_failed")
	var joined tokens
	accept(token, goodPassword).want(t, 200, "").into(t, &joined)
	want := joined
	want.User.ID, want.User.FirstName, want.Org.ID, want.Role = invited.ID, "Bob", boss.Org, "admin"
	if diff := cmp.Diff(want, joined); diff != "" {
		t.Errorf("joined (-want +got):\n%s", diff)
	}
	accept(token, goodPassword).want(t, 422, "link_expired")
	bob := c.with(joined)
	if got := bob.list()["bob@example.com"]; got.Status != "active" || got.ID != joined.User.ID {
		t.Errorf("%+v", got)
	}
	got := boss.do(http.MethodPost, members, map[string]any{"email": "BOB@example.com", "role": "viewer"}).
		want(t, 409, "conflict")
	if !strings.Contains(string(got.Body), `"existing_id":"`+joined.User.ID.String()+`"`) {
		t.Errorf("%s", got.Body)
	}

	// A user with an account joins with its password and keeps the earlier name.
	other := s.signup()
	second := other.invite("bob@example.com", "viewer")
	token = s.link("bob@example.com")
	accept(token, "not that password").want(t, 401, "invalid_credentials")
	accept(token, goodPassword).want(t, 200, "").into(t, &joined)
	want = joined
	want.User.ID, want.Org.ID, want.Role = invited.ID, other.Org, "viewer"
	if diff := cmp.Diff(want, joined); diff != "" {
		t.Errorf("joined the second org (-want +got):\n%s", diff)
	}
	if next := c.tokens("login", map[string]any{"email": "bob@example.com", "password": goodPassword},
		200); next.Org.ID != other.Org {
		t.Errorf("the next login lands in %s, not in the org last used", next.Org.ID)
	}
	other.do(http.MethodGet, members+"/"+second.ID.String(), nil).want(t, 200, "")
	if diff := cmp.Diff([]string{"user.joined"}, boss.eventsOf()); diff != "" {
		t.Error(diff)
	}
	if acts := boss.acts(); acts != "member.joined member.invited member.invited" {
		t.Errorf("audit log: %s", acts)
	}
}

func TestARemovedMemberIsOutAtOnceAndForGood(t *testing.T) {
	t.Parallel()
	s := start(t)
	boss := s.signup()
	bob := boss.as(auth.Member)
	path := members + "/" + bob.User.String()
	bob.do(http.MethodGet, "/api/v1/auth/me", nil).want(t, 200, "")
	boss.do(http.MethodDelete, path, nil).want(t, 204, "")
	bob.do(http.MethodGet, "/api/v1/auth/me", nil).want(t, 401, "session_ended")
	boss.do(http.MethodDelete, path, nil).want(t, 204, "")
	boss.do(http.MethodGet, path, nil).want(t, 404, "not_found")
	boss.do(http.MethodPatch, path, map[string]any{"role": "admin"}).want(t, 404, "not_found")
	boss.do(http.MethodDelete, members+"/"+id.New().String(), nil).want(t, 404, "not_found")
	if diff := cmp.Diff([]string{"user.removed"}, boss.eventsOf()); diff != "" {
		t.Error(diff)
	}
	if acts := boss.acts(); acts != "member.removed" {
		t.Errorf("audit log: %s", acts)
	}
}

func TestAnInvitationIsTakenBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	boss := s.signup()
	path := members + "/" + boss.invite("bob@example.com", "member").ID.String()
	boss.do(http.MethodPatch, path, map[string]any{"role": "viewer"}).want(t, 200, "")
	boss.do(http.MethodDelete, path, nil).want(t, 204, "")
	boss.do(http.MethodDelete, path, nil).want(t, 204, "")
	s.stranger().do(http.MethodPost, "/api/v1/auth/accept-invite",
		map[string]any{"token": s.link("bob@example.com"), "password": goodPassword}).want(t, 422, "link_expired")
	if got := boss.invite("bob@example.com", "member"); got.Status != "invited" {
		t.Errorf("%+v", got)
	}
}

func TestTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	s := start(t)
	boss := s.signup()
	path := members + "/" + boss.User.String()
	boss.do(http.MethodDelete, path, nil).want(t, 409, "last_owner")
	boss.do(http.MethodPatch, path, map[string]any{"role": "admin"}).want(t, 409, "last_owner")
	second := boss.as(auth.Owner)
	// Of two owners who remove each other concurrently, one stays.
	var (
		wg  sync.WaitGroup
		got [2]answer
	)
	wg.Go(func() { got[0] = boss.do(http.MethodDelete, members+"/"+second.User.String(), nil) })
	wg.Go(func() { got[1] = second.do(http.MethodDelete, path, nil) })
	wg.Wait()
	var owners int
	if err := testkit.Pgx(t, s.DB.URL).QueryRow(t.Context(),
		`SELECT count(*) FROM member WHERE role = 'owner' AND removed_at IS NULL`).Scan(&owners); err != nil ||
		owners != 1 {
		t.Errorf("%d owners (%v) after %d and %d, want 1", owners, err, got[0].Status, got[1].Status)
	}
}

func TestOnlyAnOwnerMakesOrUnmakesOwners(t *testing.T) {
	t.Parallel()
	s := start(t)
	boss := s.signup()
	chief, bob, second := boss.as(auth.Admin), boss.as(auth.Member), boss.as(auth.Owner)
	chief.do(http.MethodPost, members, map[string]any{"email": "x@example.com", "role": "owner"}).
		want(t, 403, "forbidden")
	chief.do(http.MethodPatch, members+"/"+bob.User.String(), map[string]any{"role": "owner"}).want(t, 403, "forbidden")
	chief.do(http.MethodPatch, members+"/"+second.User.String(), map[string]any{"role": "viewer"}).
		want(t, 403, "forbidden")
	chief.do(http.MethodDelete, members+"/"+second.User.String(), nil).want(t, 403, "forbidden")
	chief.do(http.MethodPost, "/api/v1/api-keys", map[string]any{"name": "k", "role": "owner"}).
		want(t, 403, "forbidden")
	heir := boss.invite("heir@example.com", "owner")
	chief.do(http.MethodPost, members, map[string]any{"email": "Heir@example.com", "role": "member"}).
		want(t, 403, "forbidden")
	if got := boss.list()["heir@example.com"]; got.ID != heir.ID || got.Role != "owner" {
		t.Errorf("the invitation became %+v", got)
	}
	chief.do(http.MethodPatch, members+"/"+bob.User.String(), map[string]any{"role": "admin"}).want(t, 200, "")
	bob.do(http.MethodGet, "/api/v1/audit-log", nil).want(t, 200, "") // immediate in this process
	boss.do(http.MethodPatch, members+"/"+bob.User.String(), map[string]any{"role": "owner"}).want(t, 200, "")
	boss.do(http.MethodDelete, members+"/"+second.User.String(), nil).want(t, 204, "")
}

func TestAMemberIsPatchedByItsTag(t *testing.T) {
	t.Parallel()
	s := start(t)
	boss := s.signup()
	path := members + "/" + boss.as(auth.Member).User.String()
	first := boss.do(http.MethodGet, path, nil).want(t, 200, "")
	boss.do(http.MethodGet, path, nil, "If-None-Match", first.Header.Get("ETag")).want(t, 304, "")
	// The whole object may be sent back as read.
	var whole map[string]any
	first.into(t, &whole)
	whole["role"] = "viewer"
	second := boss.do(http.MethodPatch, path, whole, "If-Match", first.Header.Get("ETag")).want(t, 200, "")
	boss.do(http.MethodPatch, path, map[string]any{"role": "admin"}, "If-Match", first.Header.Get("ETag")).
		want(t, 412, "precondition_failed")
	boss.do(http.MethodDelete, path, nil, "If-Match", first.Header.Get("ETag")).want(t, 412, "precondition_failed")
	for body, field := range map[string]string{
		`{"email":"new@example.com"}`: "#/email read_only", `{"role":null}`: "#/role not_nullable",
		`{"role":"king"}`: "", `{"nickname":"x"}`: "",
	} {
		if got := boss.do(http.MethodPatch, path, body).want(t, 422, "validation_failed"); field != "" &&
			got.field() != field {
			t.Errorf("%s: %s", body, got.field())
		}
	}
	same := boss.do(http.MethodPatch, path, map[string]any{}).want(t, 200, "")
	if same.Header.Get("ETag") != second.Header.Get("ETag") {
		t.Error("an empty patch moved the tag")
	}
}

func TestAnAPIKeyWorksUntilItIsRevoked(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	boss := s.signup()
	var made struct {
		ID        id.ID
		Key, Name string
		Role      string
	}
	got := boss.do(http.MethodPost, "/api/v1/api-keys", map[string]any{"name": "CI", "role": "viewer"},
		"Idempotency-Key", "once").want(t, 201, "")
	got.into(t, &made)
	path := "/api/v1/api-keys/" + made.ID.String()
	type facts struct{ Name, Role, Location string }
	if diff := cmp.Diff(facts{"CI", "viewer", path},
		facts{made.Name, made.Role, got.Header.Get("Location")}); diff != "" {
		t.Errorf("the key (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(made.Key, "fw_") {
		t.Errorf("the key does not begin with fw_: %s", got.Body)
	}
	again := boss.do(http.MethodPost, "/api/v1/api-keys", map[string]any{"name": "CI", "role": "viewer"},
		"Idempotency-Key", "once").want(t, 201, "")
	if again.Header.Get("Idempotent-Replayed") != "true" || string(again.Body) != string(got.Body) {
		t.Errorf("replayed %s", again.Body)
	}
	key := &caller{service: s, Token: made.Key}
	var me struct {
		User   any
		APIKey *struct{ Name string } `json:"api_key"`
		Role   string
	}
	key.do(http.MethodGet, "/api/v1/auth/me", nil).want(t, 200, "").into(t, &me)
	want := me
	want.User, want.APIKey, want.Role = nil, &struct{ Name string }{"CI"}, "viewer"
	if diff := cmp.Diff(want, me); diff != "" {
		t.Errorf("me (-want +got):\n%s", diff)
	}
	list := boss.do(http.MethodGet, "/api/v1/api-keys?count=exact", nil).want(t, 200, "")
	var counted struct{ Total int }
	if list.into(t, &counted); counted.Total != 1 {
		t.Errorf("%d keys in all, want 1", counted.Total)
	}
	if strings.Contains(string(list.Body), made.Key) ||
		strings.Contains(string(boss.do(http.MethodGet, path, nil).want(t, 200, "").Body), made.Key) {
		t.Error("the key is shown a second time")
	}
	boss.do(http.MethodDelete, path, nil).want(t, 204, "")
	boss.do(http.MethodDelete, path, nil).want(t, 204, "")
	boss.do(http.MethodGet, path, nil).want(t, 404, "not_found")
	for end := time.Now().Add(20 * time.Second); key.do(http.MethodGet, "/api/v1/auth/me", nil).Status != 401; {
		if time.Now().After(end) {
			t.Fatal("a revoked key goes on working")
		}
	}
	if acts := boss.acts(); acts != "api_key.revoked api_key.created" {
		t.Errorf("audit log: %s", acts)
	}
}

func TestTheOrgIsPatchedMemberByMember(t *testing.T) {
	t.Parallel()
	s := start(t)
	boss := s.signup()
	const path = "/api/v1/org"
	first := boss.do(http.MethodGet, path, nil).want(t, 200, "")
	var whole map[string]any
	first.into(t, &whole)
	whole["name"] = "New name"
	second := boss.do(http.MethodPatch, path, whole, "If-Match", first.Header.Get("ETag")).want(t, 200, "")
	boss.do(http.MethodPatch, path, map[string]any{"name": "x"}, "If-Match", first.Header.Get("ETag")).
		want(t, 412, "precondition_failed")
	same := boss.do(http.MethodPatch, path, map[string]any{}).want(t, 200, "")
	if same.Header.Get("ETag") != second.Header.Get("ETag") || string(same.Body) != string(second.Body) {
		t.Errorf("an empty patch changed %s to %s", second.Body, same.Body)
	}
	var o struct {
		Name     string
		Plan     string
		Settings map[string]any
	}
	boss.do(http.MethodPatch, path,
		`{"settings":{"time_zone":"Europe/Berlin","a":{"b":1,"c":2},"stages":["lead","won"]}}`).want(t, 200, "")
	boss.do(http.MethodPatch, path, `{"settings":{"a":{"b":null,"d":[1]}}}`).want(t, 200, "").into(t, &o)
	want := map[string]any{
		"time_zone": "Europe/Berlin", "a": map[string]any{"c": 2.0, "d": []any{1.0}},
		"stages": []any{"lead", "won"},
	}
	if diff := cmp.Diff(want, o.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if o.Name != "New name" || o.Plan != "trial" {
		t.Errorf("name %q, plan %s; want New name, trial", o.Name, o.Plan)
	}
	large := `{"settings":{"x":"` + strings.Repeat("x", 20<<10) + `"}}`
	for body, field := range map[string]string{
		`{"name":""}`:                            "",
		`{"name":" "}`:                           "#/name required",
		`{"name":null}`:                          "#/name required",
		`{"settings":null}`:                      "#/settings not_nullable",
		`{"settings":{"time_zone":"Mars"}}`:      "#/settings/time_zone invalid_time_zone",
		`{"settings":{"stages":[]}}`:             "#/settings/stages invalid_stages",
		`{"settings":{"stages":["lead","a,b"]}}`: "#/settings/stages/1 invalid_stage",
		`{"settings":{"stages":"lead"}}`:         "#/settings/stages invalid_type",
		`{"plan":"agency_scale"}`:                "#/plan read_only",
		large:                                    "#/settings too_long",
	} {
		if got := boss.do(http.MethodPatch, path, body).want(t, 422, "validation_failed"); field != "" &&
			got.field() != field {
			t.Errorf("%.60s: %s", body, got.field())
		}
	}
	if got := boss.eventsOf(); len(got) != 3 || slices.ContainsFunc(got, func(n string) bool {
		return n != "organization.updated"
	}) {
		t.Errorf("events %v, want three updates", got)
	}
}

func TestWhoMayDoWhatToPeopleAndKeys(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	boss := s.signup()
	as := map[string]*caller{
		"viewer": boss.as(auth.Viewer), "member": boss.as(auth.Member), "admin": boss.as(auth.Admin), "owner": boss,
		"viewer key": boss.key(auth.Viewer), "owner key": boss.key(auth.Owner), "stranger": s.stranger(),
	}
	some := id.New().String()
	for _, tc := range []struct {
		method, path string
		body         any
		may          string // callers that reach the handler
	}{
		{"GET", "/api/v1/auth/me", nil, "viewer member admin owner viewer-key owner-key"},
		{
			"POST", "/api/v1/auth/change-password",
			map[string]any{"old_password": "x", "new_password": "x"},
			"viewer member admin owner",
		},
		{"GET", "/api/v1/org", nil, "viewer member admin owner viewer-key owner-key"},
		{"PATCH", "/api/v1/org", map[string]any{}, "admin owner owner-key"},
		{"GET", members, nil, "viewer member admin owner"},
		{"GET", members + "/" + some, nil, "viewer member admin owner"},
		{"POST", members, map[string]any{"email": "x", "role": "viewer"}, "admin owner"},
		{"PATCH", members + "/" + some, map[string]any{"role": "viewer"}, "admin owner"},
		{"DELETE", members + "/" + some, nil, "admin owner"},
		{"GET", "/api/v1/api-keys", nil, "admin owner"},
		{"GET", "/api/v1/api-keys/" + some, nil, "admin owner"},
		{"POST", "/api/v1/api-keys", map[string]any{"name": "x", "role": "viewer"}, "admin owner"},
		{"DELETE", "/api/v1/api-keys/" + some, nil, "admin owner"},
		{"GET", "/api/v1/audit-log", nil, "admin owner owner-key"},
	} {
		may := strings.Fields(tc.may)
		for name, c := range as {
			got := c.do(tc.method, tc.path, tc.body)
			switch {
			case name == "stranger":
				got.want(t, 401, "unauthorized")
			case slices.Contains(may, strings.ReplaceAll(name, " ", "-")):
				if got.Status == 401 || got.Status == 403 {
					t.Errorf("%s %s as %s: %d %s", tc.method, tc.path, name, got.Status, got.code())
				}
			case got.Status != 403 || got.code() != "forbidden":
				t.Errorf("%s %s as %s: %d %s, want 403", tc.method, tc.path, name, got.Status, got.code())
			}
		}
	}
}

func TestTheAuditLogIsPagedNewestFirst(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	boss := s.signup()
	for range 5 {
		boss.do(http.MethodPost, "/api/v1/api-keys", map[string]any{"name": "k"}).want(t, 201, "")
	}
	var seen []id.ID
	for cursor, pages := "", 0; ; pages++ {
		var l struct {
			Data []struct {
				ID     id.ID
				Actor  struct{ Type, ID string }
				Target struct{ Type string }
			}
			HasMore    bool    `json:"has_more"`
			NextCursor *string `json:"next_cursor"`
		}
		boss.do(http.MethodGet, "/api/v1/audit-log?limit=2"+cursor, nil).want(t, 200, "").into(t, &l)
		for _, a := range l.Data {
			seen = append(seen, a.ID)
			want := a
			want.Actor.Type, want.Actor.ID, want.Target.Type = "user", boss.User.String(), "api_key"
			if diff := cmp.Diff(want, a); diff != "" {
				t.Errorf("the entry (-want +got):\n%s", diff)
			}
		}
		if !l.HasMore {
			break
		}
		cursor = "&cursor=" + *l.NextCursor
	}
	if len(seen) != 5 || !slices.IsSortedFunc(seen, func(a, b id.ID) int {
		return strings.Compare(b.String(), a.String())
	}) {
		t.Errorf("%v", seen)
	}
}
