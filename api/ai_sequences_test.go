package api_test

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/auth"
)

const aiPath = "/api/v1/ai"

// heard is the user message that the model was sent.
type heard struct {
	Task   string
	Record struct {
		Sequence struct {
			Name  string
			Steps []struct{ Key, Kind string }
		}
		Step      struct{ Key, Subject, Text string }
		Enrolment *struct {
			State     string
			Step      struct{ Key string }
			LastEmail *struct {
				Subject, Status string
				Facts           struct{ Clicks int }
			} `json:"last_email"`
		}
		Thread     []struct{ Direction, Text string }
		Enrolments []struct {
			Sequence, State string
			EndedAt         *string `json:"ended_at"`
		}
	}
}

// listens returns the last message that the model is sent from now on.
func (s *service) listens() *heard {
	out := &heard{}
	s.Model.Hear = func(message string) {
		*out = heard{}
		if err := json.Unmarshal([]byte(message), out); err != nil {
			s.Error(err)
		}
	}
	return out
}

// sourceTypes returns the types of the sources of an answer, in order and without repetitions.
func sourceTypes(got answer) string {
	var body struct{ Sources []struct{ Type string } }
	_ = json.Unmarshal(got.Body, &body)
	var all []string
	for _, s := range body.Sources {
		if len(all) == 0 || all[len(all)-1] != s.Type {
			all = append(all, s.Type)
		}
	}
	return strings.Join(all, " ")
}

func TestADraftForAStepKnowsTheStepTheThreadAndTheEnrolment(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	at := ada.activeSequence("Welcome")
	sequence := at[strings.LastIndex(at, "/")+1:]
	contact := ada.contact("grace@acme.example").ID
	sent := s.listens()
	draft := func(body string) answer {
		return ada.do(http.MethodPost, aiPath+"/draft-email", `{"contact_id":"`+contact+`"`+body+`}`)
	}
	step := `,"sequence_id":"` + sequence + `","step":"again"`
	got := draft(step).want(t, 200, "")
	if sent.Record.Step.Key != "again" || !strings.Contains(sent.Record.Step.Text, "Still there?") ||
		sent.Record.Sequence.Name != "Welcome" || len(sent.Record.Sequence.Steps) != 4 ||
		sent.Record.Enrolment != nil ||
		!strings.Contains(sent.Task, "Write the mail of the step") {
		t.Errorf("before it is enrolled: %+v", sent)
	}
	if sourceTypes(got) != "contact event sequence" {
		t.Errorf("from %s", sourceTypes(got))
	}
	enrolment := ada.enrolment(at, contact)
	// The first mail was sent, and answered.
	ada.exec(`INSERT INTO email (org_id, id, mailbox_id, thread_id, contact_id, enrolment_id, step, automated, purpose,
			subject, to_email, to_domain, message_id, message_hash, status, due_at, marked_at, sent_at, clicks,
			created_at, updated_at)
		SELECT org_id, id, mailbox_id, id, contact_id, id, 'hello', true, 'marketing', 'Hi Grace', 'grace@acme.example',
			'acme.example', 'a@b', 'x', 'sent', now(), now(), now(), 2, now(), now() FROM enrolment WHERE id = $1`,
		path.Base(enrolment))
	ada.exec(`INSERT INTO message (org_id, id, mailbox_id, identity, via, received_at, read_at, thread_id, contact_id,
			from_email, from_folded, class, reply_text)
		SELECT org_id, gen_random_uuid(), mailbox_id, 'x', 'http', now() + interval '1 minute', now(), thread_id,
			contact_id, 'grace@acme.example', 'grace@acme.example', 'human', 'What does it cost?'
		FROM email WHERE enrolment_id = $1`, path.Base(enrolment))
	events := ada.count(`event WHERE org_id = $1`, ada.Org)
	got = draft(step+`,"goal":"Name the price: https://shop.example/prices"`).want(t, 200, "")
	e := sent.Record.Enrolment
	if e == nil || e.State != "active" || e.Step.Key != "hello" || e.LastEmail == nil || e.LastEmail.Status != "sent" ||
		e.LastEmail.Facts.Clicks != 2 {
		t.Errorf("the enrolment is %+v", e)
	}
	if th := sent.Record.Thread; len(th) != 2 || th[0].Direction != "out" || th[1].Text != "What does it cost?" {
		t.Errorf("the thread is %+v", sent.Record.Thread)
	}
	if !strings.Contains(sent.Task, "https://shop.example/prices") {
		t.Errorf("the task is %s", sent.Task)
	}
	if sourceTypes(got) != "contact event sequence enrolment email message" {
		t.Errorf("from %s", sourceTypes(got))
	}
	if ada.count(`event WHERE org_id = $1`, ada.Org) != events || ada.count(`email WHERE org_id = $1`, ada.Org) != 1 {
		t.Error("a draft has written something")
	}
	for body, field := range map[string]string{
		``: "#/goal required", `,"step":"again"`: "#/sequence_id required",
		`,"sequence_id":"` + sequence + `"`:                  "#/step required",
		`,"sequence_id":"` + sequence + `","step":"tag"`:     "#/step step_unknown",
		`,"sequence_id":"` + sequence + `","step":"no-such"`: "#/step step_unknown",
	} {
		if got := draft(body).want(t, 422, "validation_failed"); got.field() != field {
			t.Errorf("%s: %s", body, got.field())
		}
	}
	draft(`,"sequence_id":"`+contact+`","step":"again"`).want(t, 404, "not_found")
	ada.as(auth.Viewer).do(http.MethodPost, aiPath+"/draft-email", `{"contact_id":"`+contact+`"`+step+`}`).
		want(t, 403, "forbidden")
	stranger := s.signup()
	own := stranger.contact("own@acme.example").ID
	stranger.do(http.MethodPost, aiPath+"/draft-email", `{"contact_id":"`+own+`"`+step+`}`).want(t, 404, "not_found")
}

func TestTheNextActionKnowsTheEnrolments(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	contact := ada.contact("grace@acme.example").ID
	sent := s.listens()
	next := func() (action string) {
		var out struct{ Action string }
		ada.do(http.MethodPost, aiPath+"/next-action", `{"contact_id":"`+contact+`"}`).want(t, 200, "").into(t, &out)
		return out.Action
	}
	if action := next(); action != "email" || len(sent.Record.Enrolments) != 0 {
		t.Errorf("without an enrolment: %s, %+v", action, sent.Record.Enrolments)
	}
	at := ada.activeSequence("Welcome")
	enrolment := ada.enrolment(at, contact)
	if action := next(); action != "wait" || len(sent.Record.Enrolments) != 1 ||
		sent.Record.Enrolments[0].Sequence != "Welcome" || sent.Record.Enrolments[0].State != "active" {
		t.Errorf("while it is enrolled: %s, %+v", action, sent.Record.Enrolments)
	}
	ada.do(http.MethodPost, enrolment+"/stop", nil).want(t, 200, "")
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	if action := next(); action != "email" || sent.Record.Enrolments[0].State != "removed" ||
		sent.Record.Enrolments[0].EndedAt == nil {
		t.Errorf("after it has ended: %s, %+v", action, sent.Record.Enrolments)
	}
}
