package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sequencesPath = "/api/v1/sequences"

// shownSequence is a sequence as a client reads it.
type shownSequence struct {
	ID, Name, Status string
	Version          *int
	DraftVersion     *int     `json:"draft_version"`
	MailboxIDs       []string `json:"mailbox_ids"`
	Schedule         struct {
		TimeZone string `json:"time_zone"`
		Days     []string
		From, To string
	}
	Goal  map[string]any
	Steps []struct {
		Key, Kind string
		Delay     struct {
			Value int
			Unit  string
		}
		Email     *struct{ Subject, Text, Thread string }
		Condition *struct {
			Filter     map[string]any
			Then, Else string
		}
		Update *struct {
			Set     map[string]any
			AddTags []string `json:"add_tags"`
		}
	}
}

// welcomeSteps are the steps of a sequence of two mails with a condition between them.
const welcomeSteps = `[` +
	`{"key":"hello","kind":"email","email":{"subject":"Hi {{ contact.first_name }}",` +
	`"text":"Good day. Stop: {{ unsubscribe_url }}","thread":"new"}},` +
	`{"key":"interested","kind":"condition","condition":{"filter":{"field":"clicked","op":"eq","value":true},` +
	`"within":{"value":2,"unit":"days"},"then":"tag"}},` +
	`{"key":"again","kind":"email","delay":{"value":3,"unit":"business_days"},` +
	`"email":{"text":"Still there? {{ unsubscribe_url }}"}},` +
	`{"key":"tag","kind":"update","update":{"set":{"stage":"mql","attributes":{"plan":"pro"}},"add_tags":["warm"]}}]`

func (c *caller) sequence(name string) (s shownSequence, at string) {
	c.Helper()
	got := c.do(http.MethodPost, sequencesPath, `{"name":"`+name+`","mailbox_ids":["`+c.sandboxMailbox()+`"],"steps":`+
		welcomeSteps+`}`).want(c, 201, "")
	got.into(c, &s)
	return s, got.Header.Get("Location")
}

// postalAddress gives the caller's org a postal address.
func (c *caller) postalAddress() {
	c.Helper()
	c.do(http.MethodPut, "/api/v1/org/sending", `{"postal_address":"1 Mill Road, Manchester"}`).want(c, 200, "")
}

func TestASequenceIsKeptWithItsDraft(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	made, at := ada.sequence("Welcome")
	if made.Status != "draft" || *made.DraftVersion != 1 || made.Version != nil || len(made.Steps) != 4 ||
		made.Schedule.TimeZone != "contact" || made.Schedule.From != "09:00" {
		t.Errorf("made %+v", made)
	}
	if diff := cmp.Diff([]string{"mon", "tue", "wed", "thu", "fri"}, made.Schedule.Days); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}
	if got := made.Steps[2]; got.Email.Thread != "reply" || got.Delay.Unit != "business_days" || got.Delay.Value != 3 {
		t.Errorf("third step %+v", got)
	}
	if diff := cmp.Diff(map[string]any{"stage": "mql", "attributes": map[string]any{"plan": "pro"}},
		made.Steps[3].Update.Set); diff != "" {
		t.Errorf("update (-want +got):\n%s", diff)
	}
	var again shownSequence
	got := ada.do(http.MethodGet, at, nil).want(t, 200, "")
	got.into(t, &again)
	if diff := cmp.Diff(made, again); diff != "" {
		t.Errorf("read (-made +read):\n%s", diff)
	}
	stale := `"0-0"`
	ada.do(http.MethodPatch, at, `{"name":"x"}`, "If-Match", stale).want(t, 412, "precondition_failed")
	ada.do(http.MethodPatch, at, `{"name":"Hello","schedule":{"time_zone":"Europe/Berlin","to":"24:00"},`+
		`"goal":{"field":"stage","op":"eq","value":"opportunity"}}`, "If-Match", got.Header.Get("ETag")).
		want(t, 200, "").into(t, &again)
	if again.Name != "Hello" || again.Schedule.TimeZone != "Europe/Berlin" || again.Schedule.To != "24:00" ||
		again.Goal["field"] != "stage" || len(again.Steps) != 4 {
		t.Errorf("changed %+v", again)
	}
	whole := ada.do(http.MethodGet, at, nil).want(t, 200, "").Body
	if got := ada.do(http.MethodPatch, at, string(whole)).want(t, 200, ""); string(got.Body) != string(whole) {
		t.Errorf("sent back\n%s\ngot\n%s", whole, got.Body)
	}
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	ada.do(http.MethodGet, at, nil).want(t, 404, "not_found")
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "").into(t, &again)
	if again.Status != "archived" {
		t.Errorf("restored %+v", again)
	}
	ada.do(http.MethodPatch, at, `{"name":"x"}`).want(t, 409, "sequence_not_active")
	var list struct{ Data []shownSequence }
	ada.do(http.MethodGet, sequencesPath+"?status=archived&sort=name", nil).want(t, 200, "").into(t, &list)
	if len(list.Data) != 1 || list.Data[0].ID != made.ID {
		t.Errorf("listed %+v", list)
	}
}

func TestTheStepsOfASequenceAreChecked(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	_, at := ada.sequence("Welcome")
	condition := func(filter, rest string) string {
		return `{"key":"c","kind":"condition","condition":{"filter":` + filter + rest + `}}`
	}
	const replied = `{"field":"replied","op":"eq","value":true}`
	for steps, want := range map[string]string{
		condition(replied, `,"then":"x"`): "step_unknown #/steps/0/condition/then step_unknown",
		`{"key":"a","kind":"wait","delay":{"value":1,"unit":"days"}},` + condition(replied, `,"else":"a"`)://
		"step_cycle #/steps/1/condition/else step_cycle",
		condition(`{"any":[{"field":"opened","op":"eq","value":true}]}`, "")://
		"open_not_a_condition #/steps/0/condition/filter/any/0/field open_not_a_condition",
		condition(`{"field":"nope","op":"eq","value":true}`, "")://
		"validation_failed #/steps/0/condition/filter/field unknown_field",
		`{"key":"u","kind":"update","update":{"set":{"email":"a@b.example"}}}`://
		"validation_failed #/steps/0/update/set/email not_allowed",
		`{"key":"u","kind":"update","update":{"set":{"stage":"nope"}}}`://
		"validation_failed #/steps/0/update/set/stage",
		`{"key":"u","kind":"update","update":{"set":{"nope":1}}}`://
		"validation_failed #/steps/0/update/set invalid_value",
		`{"key":"e","kind":"email","email":{"subject":"{{","text":"x"}}`://
		"validation_failed #/steps/0/email/subject invalid_template",
	} {
		got := ada.do(http.MethodPatch, at, `{"steps":[`+steps+`]}`)
		code, _, _ := strings.Cut(want, " ")
		if got.want(t, 422, code); !strings.HasPrefix(code+" "+got.field(), want) {
			t.Errorf("%s: %s", steps, got.Body)
		}
	}
}

func TestASequenceIsActivatedOnlyWhenItCanBeSent(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	made, at := ada.sequence("Welcome")
	ada.do(http.MethodPatch, at, `{"steps":[{"key":"hello","kind":"email","email":{"subject":"Hi",`+
		`"text":"{{ contact.nope }}"}}]}`).want(t, 200, "")
	ada.do(http.MethodPost, at+"/pause", nil).want(t, 409, "sequence_not_active")
	got := ada.do(http.MethodPost, at+"/activate", nil).want(t, 422, "validation_failed")
	for _, code := range []string{"postal_address_required", "merge_unknown", "unsubscribe_missing"} {
		if !strings.Contains(string(got.Body), `"`+code+`"`) {
			t.Errorf("%s is not named: %s", code, got.Body)
		}
	}
	ada.postalAddress()
	ada.do(http.MethodPatch, at, `{"steps":`+welcomeSteps+`}`).want(t, 200, "")
	var now shownSequence
	ada.do(http.MethodPost, at+"/activate", nil).want(t, 200, "").into(t, &now)
	if now.Status != "active" || *now.Version != 1 || now.DraftVersion != nil {
		t.Errorf("activated %+v", now)
	}
	ada.do(http.MethodPatch, at, `{"exclusive":false}`).want(t, 200, "").into(t, &now)
	if now.Status != "active" || *now.Version != 1 || *now.DraftVersion != 2 {
		t.Errorf("changed %+v", now)
	}
	var versions struct {
		Data []struct {
			Version   int
			Status    string
			Exclusive bool
		}
		NextCursor *string `json:"next_cursor"`
	}
	ada.do(http.MethodGet, at+"/versions?limit=1", nil).want(t, 200, "").into(t, &versions)
	if len(versions.Data) != 1 || versions.Data[0].Status != "draft" || versions.NextCursor == nil {
		t.Fatalf("versions %+v", versions)
	}
	ada.do(http.MethodGet, at+"/versions?cursor="+*versions.NextCursor, nil).want(t, 200, "").into(t, &versions)
	if len(versions.Data) != 1 || versions.Data[0].Status != "active" || !versions.Data[0].Exclusive {
		t.Errorf("versions %+v", versions)
	}
	ada.do(http.MethodPost, at+"/pause", nil).want(t, 200, "").into(t, &now)
	ada.do(http.MethodPost, at+"/resume", nil).want(t, 200, "").into(t, &now)
	var copied shownSequence
	ada.do(http.MethodPost, at+"/duplicate", `{"name":"Copy"}`).want(t, 201, "").into(t, &copied)
	if copied.ID == made.ID || copied.Name != "Copy" || copied.Status != "draft" || len(copied.Steps) != 4 {
		t.Errorf("copied %+v", copied)
	}
	ada.do(http.MethodPost, at+"/archive", nil).want(t, 200, "").into(t, &now)
	if now.Status != "archived" {
		t.Errorf("archived %+v", now)
	}
	ada.do(http.MethodPost, at+"/resume", nil).want(t, 409, "sequence_not_active")
	var announced []string
	for _, e := range ada.eventsOf() {
		if strings.HasPrefix(e, "sequence.") {
			announced = append(announced, e)
		}
	}
	want := []string{"sequence.activated", "sequence.paused", "sequence.activated"}
	if diff := cmp.Diff(want, announced); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
