package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/jobs/sequencemove"
)

const enrolmentsPath = "/api/v1/enrolments"

// shownEnrolment is an enrolment as a client reads it.
type shownEnrolment struct {
	ID, State, Step string
	ContactID       string `json:"contact_id"`
	SequenceID      string `json:"sequence_id"`
	Reason          *string
	History         []struct {
		From    *string
		To      string
		StepKey string `json:"step_key"`
		Cause   string
	}
}

// enrolled is the result of a request to enrol contacts.
type enrolled struct {
	Data []struct {
		Result      string
		Reason      *string
		EnrolmentID *string `json:"enrolment_id"`
	}
	Batch *struct {
		ID, Status string
		Total      int
	}
}

// activeSequence creates an active sequence and returns its address.
func (c *caller) activeSequence(name string) string {
	c.Helper()
	_, at := c.sequence(name)
	c.postalAddress()
	c.do(http.MethodPost, at+"/activate", nil).want(c, 200, "")
	return at
}

// enrolment enrols a contact in the sequence at an address and returns the address of the enrolment.
func (c *caller) enrolment(at, contact string) string {
	c.Helper()
	var out enrolled
	c.do(http.MethodPost, at+"/enroll", `{"contact_ids":["`+contact+`"]}`).want(c, 200, "").into(c, &out)
	return enrolmentsPath + "/" + *out.Data[0].EnrolmentID
}

// knowSequence adds an active sequence with an enrolment and a batch to the addresses of a walk.
func (c *caller) knowSequence(known found, contact string) {
	c.Helper()
	const of = sequencesPath + "/{id}"
	at := c.activeSequence("Welcome")
	for _, suffix := range []string{"", "/versions", "/stats", "/enrolments"} {
		known[of+suffix] = at + suffix
	}
	var many enrolled
	known[enrolmentsPath+"/{id}"] = c.enrolment(at, contact)
	c.do(http.MethodPost, at+"/enroll", `{"filter":{"field":"stage","op":"eq","value":"lead"}}`).want(c, 202, "").
		into(c, &many)
	c.do(http.MethodPatch, at, `{"exclusive":false}`).want(c, 200, "")
	c.do(http.MethodPost, at+"/activate", nil).want(c, 200, "")
	var move struct{ ID string }
	c.do(http.MethodPost, at+"/move", `{"from":1,"to":2,"dry_run":true}`).want(c, 202, "").into(c, &move)
	known[of+"/moves/{move}"] = at + "/moves/" + move.ID
	known[of+"/batches/{batch}"] = at + "/batches/" + many.Batch.ID
	known[of+"/batches/{batch}/skipped"] = at + "/batches/" + many.Batch.ID + "/skipped"
}

func TestContactsAreEnrolledWithAResultForEach(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	_, at := ada.sequence("Draft")
	one, two := ada.contact("one@acme.example").ID, ada.contact("two@acme.example").ID
	ids := `{"contact_ids":["` + one + `","` + two + `","` + id.New().String() + `"]`
	ada.do(http.MethodPost, at+"/enroll", ids+`}`).want(t, 409, "sequence_not_active")
	at = ada.activeSequence("Welcome")
	enroll := func(body string) (list []string, ids []string) {
		var out enrolled
		ada.do(http.MethodPost, at+"/enroll", body).want(t, 200, "").into(t, &out)
		for _, r := range out.Data {
			what := r.Result
			if r.Reason != nil {
				what += " " + *r.Reason
			}
			if r.EnrolmentID != nil {
				ids = append(ids, *r.EnrolmentID)
			}
			list = append(list, what)
		}
		return list, ids
	}
	list, none := enroll(ids + `,"dry_run":true}`)
	if cmp.Diff([]string{"enrolled", "enrolled", "skipped not_found"}, list) != "" || len(none) != 0 {
		t.Errorf("a dry run: %v, ids %v", list, none)
	}
	list, made := enroll(ids + `}`)
	if cmp.Diff([]string{"enrolled", "enrolled", "skipped not_found"}, list) != "" || len(made) != 2 {
		t.Fatalf("enrolled %v, ids %v", list, made)
	}
	if list, _ := enroll(ids + `}`); cmp.Diff(
		[]string{"skipped already_open", "skipped already_open", "skipped not_found"}, list) != "" {
		t.Errorf("again: %v", list)
	}
	other := ada.activeSequence("Other")
	var out enrolled
	ada.do(http.MethodPost, other+"/enroll", ids+`}`).want(t, 200, "").into(t, &out)
	if out.Data[0].Reason == nil || *out.Data[0].Reason != "active_elsewhere" {
		t.Errorf("in another sequence: %+v", out)
	}
	for body, pointer := range map[string]string{
		`{}`:                                 "#/contact_ids",
		`{"contact_ids":["x"]}`:              "#/contact_ids/0",
		ids + `,"segment":"x"}`:              "#/contact_ids",
		`{"segment":"nope"}`:                 "#/segment",
		ids + `,"mailbox_id":"` + one + `"}`: "#/mailbox_id",
	} {
		got := ada.do(http.MethodPost, at+"/enroll", body).want(t, 422, "validation_failed")
		if !strings.HasPrefix(got.field(), pointer+" ") {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	ada.do(http.MethodPost, at+"/enroll", `{"filter":{"field":"nope","op":"eq","value":1}}`).
		want(t, 400, "invalid_filter")
	var many enrolled
	got := ada.do(http.MethodPost, at+"/enroll", `{"filter":{"field":"email","op":"contains","value":"acme"}}`).
		want(t, 202, "")
	got.into(t, &many)
	if many.Batch.Total != 2 || got.Header.Get("Location") != "/api/v1/jobs/"+many.Batch.ID {
		t.Errorf("batch %+v at %s", many.Batch, got.Header.Get("Location"))
	}
	ada.do(http.MethodGet, got.Header.Get("Location"), nil).want(t, 200, "")
	ada.do(http.MethodPost, at+"/batches/"+many.Batch.ID+"/cancel", nil).want(t, 200, "").into(t, many.Batch)
	if many.Batch.Status != "cancelled" {
		t.Errorf("cancelled: %+v", many.Batch)
	}
	ada.do(http.MethodGet, other+"/batches/"+many.Batch.ID, nil).want(t, 404, "not_found")
}

func TestAnEnrolmentIsHeldSkippedAndEndedByAPerson(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	at := ada.activeSequence("Welcome")
	contact := ada.contact("one@acme.example").ID
	one := ada.enrolment(at, contact)
	do := func(act string) (e shownEnrolment) {
		ada.do(http.MethodPost, one+"/"+act, nil).want(t, 200, "").into(t, &e)
		return e
	}
	if e := do("pause"); e.State != "paused" || e.Step != "hello" {
		t.Errorf("paused %+v", e)
	}
	if e := do("resume"); e.State != "active" {
		t.Errorf("resumed %+v", e)
	}
	if e := do("skip-step"); e.State != "active" || e.Step != "interested" {
		t.Errorf("skipped %+v", e)
	}
	ended := do("stop")
	if ended.State != "removed" || *ended.Reason != "removed_by_user" {
		t.Errorf("stopped %+v", ended)
	}
	ada.do(http.MethodPost, one+"/pause", nil).want(t, 409, "conflict")
	var read shownEnrolment
	ada.do(http.MethodGet, one, nil).want(t, 200, "").into(t, &read)
	if diff := cmp.Diff(ended, read); diff != "" {
		t.Errorf("read (-ended +read):\n%s", diff)
	}
	var way []string
	for _, h := range read.History {
		way = append(way, h.To)
	}
	if diff := cmp.Diff([]string{"active", "paused", "active", "active", "removed"}, way); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	var list struct {
		Data []struct {
			ContactName *string `json:"contact_name"`
		}
	}
	for query, n := range map[string]int{
		"": 1, "?state=removed": 1, "?state=active": 0, "?reason=removed_by_user": 1, "?step=interested": 1,
		"?contact_id=" + contact: 1, "?contact_id=" + id.New().String(): 0,
	} {
		ada.do(http.MethodGet, at+"/enrolments"+query, nil).want(t, 200, "").into(t, &list)
		if len(list.Data) != n {
			t.Errorf("%s lists %+v, want %d", query, list.Data, n)
		}
		for _, e := range list.Data {
			if e.ContactName == nil || *e.ContactName != "Ada Lovelace" {
				t.Errorf("%s: contact_name %v, want Ada Lovelace", query, e.ContactName)
			}
		}
	}
	var sequence struct{ Counts map[string]int }
	ada.do(http.MethodGet, at, nil).want(t, 200, "").into(t, &sequence)
	if diff := cmp.Diff(map[string]int{"removed": 1}, sequence.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestAPlanWithoutSequencesStopsThemButStartsNone(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("solo_pro")
	at := ada.activeSequence("Welcome")
	enrolment := ada.enrolment(at, ada.contact("one@acme.example").ID)
	ada.state(plans.State{Plan: "solo_pro", Interval: "month", Status: plans.Canceled, Quantity: 1})
	ada.do(http.MethodPost, enrolment+"/pause", nil).want(t, 200, "")
	for path, body := range map[string]any{
		sequencesPath: `{"name":"Another"}`, at + "/activate": nil, at + "/resume": nil, at + "/duplicate": nil,
		at + "/enroll": `{"contact_ids":[]}`, at + "/move": `{"from":1,"to":2}`, enrolment + "/resume": nil,
		enrolment + "/skip-step": nil,
	} {
		var problem struct{ Feature string }
		ada.do(http.MethodPost, path, body).want(t, 402, "feature_not_in_plan").into(t, &problem)
		if problem.Feature != plans.Sequences {
			t.Errorf("%s names %q", path, problem.Feature)
		}
	}
	ada.do(http.MethodPatch, at, `{"name":"Another"}`).want(t, 402, "feature_not_in_plan")
	ada.do(http.MethodGet, at, nil).want(t, 200, "")
	ada.do(http.MethodPost, enrolment+"/stop", nil).want(t, 200, "")
	ada.do(http.MethodPost, at+"/pause", nil).want(t, 200, "")
	ada.do(http.MethodPost, at+"/archive", nil).want(t, 200, "")
}

func TestEnrolmentsAreMovedToANewVersionByAJob(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	at := ada.activeSequence("Welcome")
	enrolment := ada.enrolment(at, ada.contact("one@acme.example").ID)
	ada.do(http.MethodPost, at+"/move", `{"from":1,"to":2}`).want(t, 422, "validation_failed")
	ada.do(http.MethodPatch, at, `{"steps":[{"key":"other","kind":"email","email":{"subject":"Hi","text":`+
		`"{{ unsubscribe_url }}"}}]}`).want(t, 200, "")
	ada.do(http.MethodPost, at+"/activate", nil).want(t, 200, "")
	got := ada.do(http.MethodPost, at+"/move", `{"from":1,"to":2,"map":{"hello":"other"}}`).want(t, 202, "")
	s.workRows(sequencemove.Handler())
	var job struct{ Kind, Status, Href string }
	ada.do(http.MethodGet, got.Header.Get("Location"), nil).want(t, 200, "").into(t, &job)
	if job.Kind != "sequence_move" || job.Status != "completed" {
		t.Errorf("the job is %+v", job)
	}
	var move struct{ Moved, Finished int }
	ada.do(http.MethodGet, job.Href, nil).want(t, 200, "").into(t, &move)
	var e shownEnrolment
	ada.do(http.MethodGet, enrolment, nil).want(t, 200, "").into(t, &e)
	if move.Moved != 1 || move.Finished != 0 || e.State != "active" || e.Step != "other" {
		t.Errorf("moved %+v: %+v", move, e)
	}
}

func TestAnArchivedSequenceEndsItsEnrolments(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	for _, end := range []func(at string){
		func(at string) { ada.do(http.MethodPost, at+"/archive", nil).want(t, 200, "") },
		func(at string) { ada.do(http.MethodDelete, at, nil).want(t, 204, "") },
	} {
		at := ada.activeSequence("Welcome")
		enrolment := ada.enrolment(at, ada.contact("c"+id.New().String()+"@acme.example").ID)
		end(at)
		var e shownEnrolment
		ada.do(http.MethodGet, enrolment, nil).want(t, 200, "").into(t, &e)
		if e.State != "removed" || *e.Reason != "archived" {
			t.Errorf("ended %+v", e)
		}
	}
}

func TestTheStatisticsCountEachVariantWithItsInterval(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	_, at := ada.sequence("Welcome")
	ada.postalAddress()
	ada.do(http.MethodPatch, at, `{"steps":[{"key":"hello","kind":"email","email":{"subject":"Hi","thread":"new",`+
		`"text":"{{ unsubscribe_url }}","variants":[{"key":"a","subject":"A"},{"key":"b","subject":"B"}]}},`+
		`{"key":"bye","kind":"email","email":{"text":"{{ unsubscribe_url }}"}}]}`).want(t, 200, "")
	ada.do(http.MethodPost, at+"/activate", nil).want(t, 200, "")
	sequence := at[strings.LastIndex(at, "/")+1:]
	// 600 enrolments with one sent email each, of which those of b are replied to three times as often.
	ada.exec(`INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state, step, grp, mailbox_id, zone,
			created_at, state_at)
		SELECT $1, md5('n' || $2 || g)::uuid, $2::uuid, 1, md5('c' || $2 || g)::uuid, 'active', 'hello', 1, $1, 'UTC',
			now(), now() FROM generate_series(1, 600) g`, ada.Org, sequence)
	ada.exec(`INSERT INTO email (org_id, id, mailbox_id, thread_id, enrolment_id, step, variant, automated, purpose,
			subject, to_email, to_domain, message_id, message_hash, status, due_at, marked_at, replied_at, clicks,
			opens, machine_opens, created_at, updated_at)
		SELECT $1, i, $1, i, md5('n' || $2 || g)::uuid, 'hello', CASE WHEN g % 2 = 0 THEN 'a' ELSE 'b' END, true,
			'marketing', 's', 't@x.example', 'x.example', i::text, decode(md5(i::text), 'hex'),
			CASE WHEN g <= 10 THEN 'unknown' ELSE 'sent' END, now(), now() - interval '2 days',
			CASE WHEN g % 20 = 0 OR g % 20 IN (1, 3, 5) THEN now() END, g % 3, 0, 1, now(), now()
		FROM (SELECT g, md5('e' || $2 || g)::uuid AS i FROM generate_series(1, 600) g) AS made`, ada.Org, sequence)
	type rate struct{ Value, Low, High float64 }
	var got struct {
		Data []struct {
			StepKey                                          string `json:"step_key"`
			Variant                                          *string
			Planned, Sent, Unknown, Replied, Clicked, Opened int
			MachineOpens                                     int      `json:"machine_opens"`
			ReplyRate                                        rate     `json:"reply_rate"`
			PBest                                            *float64 `json:"p_best"`
		}
	}
	ada.do(http.MethodGet, at+"/stats", nil).want(t, 200, "").into(t, &got)
	if len(got.Data) != 3 || *got.Data[0].Variant != "a" || *got.Data[1].Variant != "b" ||
		got.Data[2].StepKey != "bye" {
		t.Fatalf("got %+v", got.Data)
	}
	a, b, bye := got.Data[0], got.Data[1], got.Data[2]
	if a.Planned != 300 || a.Sent != 295 || a.Unknown != 5 || a.Replied != 30 || a.Clicked != 200 || a.Opened != 0 ||
		a.MachineOpens != 300 {
		t.Errorf("a has %+v", a)
	}
	if r := a.ReplyRate; r.Value != 0.1 || r.Low < 0.06 || r.Low > 0.08 || r.High < 0.13 || r.High > 0.15 {
		t.Errorf("a is replied to with %+v", r)
	}
	if b.Replied != 90 || a.PBest == nil || b.PBest == nil || *b.PBest < 0.999 || *a.PBest > 0.001 {
		t.Errorf("b has %+v", b)
	}
	if bye.Planned != 0 || bye.PBest != nil || bye.ReplyRate != (rate{0, 0, 1}) {
		t.Errorf("the step that was not sent has %+v", bye)
	}
}
