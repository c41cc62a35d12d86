package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/jobs/sequencecompare"
	"github.com/funnelwork/funnelwork/jobs/sequenceenter"
)

// enterSegments does the work of the job that enrols the contacts that have entered segments.
func (c *caller) enterSegments(t *testing.T) {
	t.Helper()
	settleSegments(t, c.service)
	if err := sequenceenter.Watch(c.DB.App, c.DB.System)(c.Context()); err != nil {
		c.Fatal(err)
	}
	c.workRows(sequenceenter.Job{
		Enrolments: &enrolments.Service{Suppressions: &suppression.Service{Box: c.Deps.Box}},
		Plans:      plans.NewService(c.DB.App, nil),
	}.Handler())
}

func TestASequenceEnrolsTheContactsThatEnterItsSegment(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup().subscribe("solo_pro")
	var customers, board segment
	ada.do(http.MethodPost, segmentsPath, `{"name":"Customers","filter":{"field":"stage","op":"eq",`+
		`"value":"customer"}}`).want(t, 201, "").into(t, &customers)
	ada.do(http.MethodPost, segmentsPath, `{"name":"Board"}`).want(t, 201, "").into(t, &board)
	one, two := ada.contact("one@acme.example").ID, ada.contact("two@acme.example").ID
	_, at := ada.sequence("Welcome")
	ada.postalAddress()
	for body, field := range map[string]string{
		`{"enroll_segment":"` + board.ID + `"}`: "#/enroll_segment not_dynamic",
		`{"enroll_segment":"` + one + `"}`:      "#/enroll_segment unknown_segment",
		`{"enroll_segment":"customers"}`:        "",
	} {
		got := ada.do(http.MethodPatch, at, body).want(t, 422, "validation_failed")
		if field != "" && got.field() != field {
			t.Errorf("%s: %s", body, got.field())
		}
	}
	var shown struct {
		EnrollSegment *string `json:"enroll_segment"`
	}
	ada.do(http.MethodPatch, at, `{"enroll_segment":"`+customers.ID+`"}`).want(t, 200, "").into(t, &shown)
	if shown.EnrollSegment == nil || *shown.EnrollSegment != customers.ID {
		t.Errorf("shown %+v", shown)
	}
	settleSegments(t, s)
	customer := func(contact string) {
		ada.do(http.MethodPatch, contactsPath+"/"+contact, `{"stage":"customer"}`).want(t, 200, "")
		ada.enterSegments(t)
	}
	enrolled := func() (all []shownEnrolment) {
		var list struct{ Data []shownEnrolment }
		ada.do(http.MethodGet, at+"/enrolments", nil).want(t, 200, "").into(t, &list)
		return list.Data
	}
	if customer(one); len(enrolled()) != 0 {
		t.Errorf("a draft has enrolled %+v", enrolled())
	}
	ada.do(http.MethodPost, at+"/activate", nil).want(t, 200, "")
	if customer(two); len(enrolled()) != 1 || enrolled()[0].ContactID != two {
		t.Fatalf("enrolled %+v", enrolled())
	}
	var e shownEnrolment
	ada.do(http.MethodGet, enrolmentsPath+"/"+enrolled()[0].ID, nil).want(t, 200, "").into(t, &e)
	if len(e.History) != 1 || e.History[0].Cause != "segment/"+customers.ID {
		t.Errorf("history %+v", e.History)
	}
	three := ada.contact("three@acme.example").ID
	ada.state(plans.State{Plan: "solo_pro", Interval: "month", Status: plans.Canceled, Quantity: 1})
	ada.exec(`UPDATE contact SET stage = 'customer' WHERE id = $1`, three)
	if ada.enterSegments(t); len(enrolled()) != 1 || ada.count(`segment_entry WHERE org_id = $1`, ada.Org) != 0 {
		t.Errorf("a plan without sequences has enrolled %+v", enrolled())
	}
	ada.subscribe("solo_pro")
	used := ada.do(http.MethodDelete, segmentsPath+"/"+customers.ID, nil).want(t, 409, "in_use")
	if !strings.Contains(string(used.Body), `"used_by":[{"kind":"sequence"`) {
		t.Errorf("a segment that a sequence enrols is used by %s", used.Body)
	}
	ada.exec(`UPDATE segment SET archived_at = now() WHERE id = $1`, customers.ID) // as an earlier version did
	ada.do(http.MethodPatch, at, `{"exclusive":false}`).want(t, 200, "")
	if got := ada.do(http.MethodPost, at+"/activate", nil).want(t, 422, "validation_failed"); got.field() !=
		"#/enroll_segment unknown_segment" {
		t.Errorf("with an archived segment: %s", got.field())
	}
}

func TestALosingVariantIsStoppedAndShown(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	_, at := ada.sequence("Welcome")
	ada.postalAddress()
	const mail = `{"steps":[{"key":"hello","kind":"email","email":{"subject":"Hi","thread":"new","auto":true,` +
		`"text":"{{ unsubscribe_url }}"`
	if got := ada.do(http.MethodPatch, at, mail+`}}]}`).want(t, 422, "validation_failed"); got.field() !=
		"#/steps/0/email/auto not_allowed" {
		t.Errorf("without variants: %s", got.field())
	}
	ada.do(http.MethodPatch, at, mail+`,"variants":[{"key":"a","subject":"A"},{"key":"b","subject":"B"}]}}]}`).
		want(t, 200, "")
	before := ada.do(http.MethodPost, at+"/activate", nil).want(t, 200, "").Header.Get("ETag")
	sequence := at[strings.LastIndex(at, "/")+1:]
	ada.exec(`INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state, step, grp, mailbox_id, zone,
			created_at, state_at)
		SELECT $1, md5('n' || $2 || g)::uuid, $2::uuid, 1, md5('c' || $2 || g)::uuid, 'active', 'hello', 1, $1, 'UTC',
			now(), now() FROM generate_series(1, 400) g`, ada.Org, sequence)
	ada.exec(`INSERT INTO email (org_id, id, mailbox_id, thread_id, enrolment_id, step, variant, automated, purpose,
			subject, to_email, to_domain, message_id, message_hash, status, due_at, marked_at, replied_at, created_at,
			updated_at)
		SELECT $1, i, $1, i, md5('n' || $2 || g)::uuid, 'hello', CASE WHEN g % 2 = 0 THEN 'a' ELSE 'b' END, true,
			'marketing', 's', 't@x.example', 'x.example', i::text, decode(md5(i::text), 'hex'), 'sent', now(),
			now() - interval '2 days', CASE WHEN g % 10 = 0 OR g = 1 THEN now() END, now(), now()
		FROM (SELECT g, md5('e' || $2 || g)::uuid AS i FROM generate_series(1, 400) g) AS made`, ada.Org, sequence)
	ada.exec(`UPDATE variant_comparison SET check_at = now() WHERE org_id = $1`, ada.Org)
	if err := sequencecompare.Watch(s.DB.App, s.DB.System)(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.workRows(sequencecompare.Handler())
	type variant struct {
		Key       string
		StoppedAt *string `json:"stopped_at"`
	}
	type withSteps struct {
		Steps []struct{ Email struct{ Variants []variant } }
	}
	stopped := func(what string, all []withSteps) {
		t.Helper()
		if len(all) != 1 || all[0].Steps[0].Email.Variants[0].StoppedAt != nil ||
			all[0].Steps[0].Email.Variants[1].StoppedAt == nil {
			t.Errorf("%s shows %+v", what, all)
		}
	}
	var shown withSteps
	var list, versions struct{ Data []withSteps }
	got := ada.do(http.MethodGet, at, nil).want(t, 200, "")
	got.into(t, &shown)
	stopped("the sequence", []withSteps{shown})
	if after := got.Header.Get("ETag"); after == before {
		t.Error("the ETag is the same")
	}
	ada.do(http.MethodGet, sequencesPath, nil).want(t, 200, "").into(t, &list)
	stopped("the list", list.Data)
	ada.do(http.MethodGet, at+"/versions", nil).want(t, 200, "").into(t, &versions)
	stopped("the list of versions", versions.Data)
	var numbers struct {
		Data []struct {
			Variant   *string
			StoppedAt *string  `json:"stopped_at"`
			PBest     *float64 `json:"p_best"`
		}
	}
	ada.do(http.MethodGet, at+"/stats", nil).want(t, 200, "").into(t, &numbers)
	if a, b := numbers.Data[0], numbers.Data[1]; a.StoppedAt != nil || b.StoppedAt == nil || *a.PBest < 0.95 {
		t.Errorf("the statistics show %+v", numbers.Data)
	}
	// What was shown can be sent back: it changes nothing.
	if back := ada.do(http.MethodPatch, at, string(got.Body)).want(t, 200, ""); string(back.Body) != string(got.Body) {
		t.Errorf("sent back\n%s\ngot\n%s", got.Body, back.Body)
	}
	if n := ada.count(`sequence_step WHERE org_id = $1 AND body::text LIKE '%stopped_at%'`, ada.Org); n != 0 {
		t.Errorf("%d steps have it stored", n)
	}
}
