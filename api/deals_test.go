// Longer than its neighbours: the transitions of a deal are one table, and the tests after it share its fixtures.

package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
)

const (
	dealsPath     = "/api/v1/crm/deals"
	pipelinesPath = "/api/v1/crm/pipelines"
)

type deal struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	PipelineID string  `json:"pipeline_id"`
	StageID    string  `json:"stage_id"`
	Status     string  `json:"status"`
	Amount     int64   `json:"amount"`
	Currency   string  `json:"currency"`
	LostReason *string `json:"lost_reason"`
	ContactID  *string `json:"contact_id"`
	ClosedAt   *string `json:"closed_at"`
	CreatedAt  string  `json:"created_at"`
	ArchivedAt *string `json:"archived_at"`
}

type stage struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	Probability int    `json:"probability"`
}

type pipeline struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Default bool    `json:"default"`
	Stages  []stage `json:"stages"`
}

func (p pipeline) stage(t testing.TB, name string) stage {
	t.Helper()
	i := slices.IndexFunc(p.Stages, func(s stage) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no stage %s in %+v", name, p)
	}
	return p.Stages[i]
}

func (c *caller) deal(body string) (d deal) {
	c.Helper()
	c.do(http.MethodPost, dealsPath, body).want(c, 201, "").into(c, &d)
	return d
}

func (c *caller) move(id, body string) (d deal) {
	c.Helper()
	c.do(http.MethodPatch, dealsPath+"/"+id, body).want(c, 200, "").into(c, &d)
	return d
}

func (c *caller) pipeline(body string) (p pipeline) {
	c.Helper()
	c.do(http.MethodPost, pipelinesPath, body).want(c, 201, "").into(c, &p)
	return p
}

// standard returns the org's default pipeline.
func (c *caller) standard() pipeline {
	c.Helper()
	var p struct{ Data []pipeline }
	c.do(http.MethodGet, pipelinesPath, nil).want(c, 200, "").into(c, &p)
	for _, one := range p.Data {
		if one.Default {
			return one
		}
	}
	c.Fatalf("no default pipeline in %+v", p)
	return pipeline{}
}

func TestADealMovesWithItsStageOrItsStatus(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	contact := ada.contact("ada@acme.example")
	std := ada.standard()
	other := ada.pipeline(`{"name":"Renewals"}`)
	made := ada.do(http.MethodPost, dealsPath,
		`{"name":"Anvils","contact_id":"`+contact.ID+
			`","amount":125000,"currency":"EUR","expected_close_on":"2026-12-31"}`).want(t, 201, "")
	var d deal
	made.into(t, &d)
	type head struct{ Location, ETag string }
	if diff := cmp.Diff(head{dealsPath + "/" + d.ID, `"1.0"`}, head{
		made.Header.Get("Location"), made.Header.Get("ETag"),
	}); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	want := d
	want.Status, want.PipelineID, want.StageID, want.ClosedAt = "open", std.ID, std.Stages[0].ID, nil
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	if read := ada.do(http.MethodGet, dealsPath+"/"+d.ID, nil).
		want(t, 200, ""); string(read.Body) != string(made.Body) {
		t.Errorf("read %s, created %s", read.Body, made.Body)
	}
	for i, step := range []struct{ patch, stage, status, reason string }{
		{`{"stage_id":"` + std.stage(t, "Negotiation").ID + `"}`, "Negotiation", "open", ""},
		{`{"status":"won"}`, "Won", "won", ""},
		{`{"status":"won","amount":7}`, "Won", "won", ""},
		{`{"status":"open"}`, "Negotiation", "open", ""},
		{`{"status":"lost","lost_reason":"price"}`, "Lost", "lost", "price"},
		{`{"lost_reason":"time"}`, "Lost", "lost", "time"},
		{`{"stage_id":"` + std.stage(t, "Won").ID + `","status":"won"}`, "Won", "won", ""},
		{`{"pipeline_id":"` + other.ID + `"}`, "Won", "won", ""},
		{`{"status":"open"}`, "Qualification", "open", ""},
		{`{"stage_id":"` + std.stage(t, "Proposal").ID + `"}`, "Proposal", "open", ""},
		{`{"pipeline_id":"` + std.ID + `"}`, "Proposal", "open", ""},
		{`{}`, "Proposal", "open", ""},
	} {
		d = ada.move(d.ID, step.patch)
		in := std
		if d.PipelineID == other.ID {
			in = other
		}
		reason := ""
		if d.LostReason != nil {
			reason = *d.LostReason
		}
		type facts struct{ Stage, Status, Reason string }
		if diff := cmp.Diff(facts{in.stage(t, step.stage).ID, step.status, step.reason},
			facts{d.StageID, d.Status, reason}); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i, diff)
		}
		if (d.ClosedAt == nil) != (step.status == "open") {
			t.Errorf("step %d: status %s, closed_at %v", i, d.Status, d.ClosedAt)
		}
	}
	if diff := cmp.Diff(map[string]int{
		"deal.created": 1, "deal.updated": 2, "deal.stage_changed": 8, "deal.won": 2,
		"deal.lost": 1, "deal.reopened": 2,
	}, ada.told()); diff != "" {
		t.Error(diff)
	}
	if got := ada.timeline(contact.ID, "limit=3").
		types(); got != "deal.stage_changed deal.reopened deal.stage_changed" {
		t.Errorf("the timeline has %s", got)
	}
	e := ada.timeline(contact.ID, "types=deal.won").Data[1]
	if e.ObjectID != d.ID {
		t.Errorf("the entry is about %s, want %s", e.ObjectID, d.ID)
	}
	if e.Object["name"] != "Anvils" || e.Object["amount"] != 125000.0 {
		t.Errorf("the entry has the name %v, the amount %v; want Anvils, 125000", e.Object["name"], e.Object["amount"])
	}
}

func TestWhatADealBodyMayNotBe(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	std := ada.standard()
	foreign := s.signup()
	for body, want := range map[string]string{
		`{}`:                                              "#/name required",
		`{"name":"A","probability":5}`:                    "#/probability unknown_field",
		`{"name":""}`:                                     "#/name required",
		`{"name":"A","amount":-1}`:                        "#/amount out_of_range",
		`{"name":"A","amount":1.5}`:                       "#/amount invalid_type",
		`{"name":"A","amount":null}`:                      "#/amount not_nullable",
		`{"name":"A","currency":"eur"}`:                   "#/currency invalid_currency",
		`{"name":"A","currency":"ZZQ"}`:                   "#/currency invalid_currency",
		`{"name":"A","status":"maybe"}`:                   "#/status not_allowed",
		`{"name":"A","status":null}`:                      "#/status not_nullable",
		`{"name":"A","lost_reason":"x"}`:                  "#/lost_reason contradicts_status",
		`{"name":"A","expected_close_on":"2026-02-30"}`:   "#/expected_close_on invalid_date",
		`{"name":"A","closed_at":"2026-01-01T00:00:00Z"}`: "#/closed_at contradicts_status",

		`{"name":"A","status":"won","closed_at":"2999-01-01T00:00:00Z"}`: "#/closed_at out_of_range",
		`{"name":"A","created_at":"2020-01-01T00:00:00Z"}`:               "#/created_at read_only",

		`{"name":"A","contact_id":"` + foreign.contact("a@b.co").ID + `"}`:         "#/contact_id unknown_contact",
		`{"name":"A","pipeline_id":"` + foreign.standard().ID + `"}`:               "#/pipeline_id unknown_pipeline",
		`{"name":"A","stage_id":"` + foreign.standard().Stages[0].ID + `"}`:        "#/stage_id unknown_stage",
		`{"name":"A","stage_id":"` + std.stage(t, "Won").ID + `","status":"lost"}`: "#/status contradicts_stage",
		`{"name":"A","pipeline_id":"` + std.ID + `","stage_id":"` + std.ID + `"}`:  "#/stage_id unknown_stage",
	} {
		if got := ada.do(http.MethodPost, dealsPath, body).want(t, 422, "validation_failed"); got.field() != want {
			t.Errorf("%s: %s, want %s", body, got.field(), want)
		}
	}
	d := ada.deal(
		`{"name":"A","status":"lost","lost_reason":"price","closed_at":"2025-06-01T00:00:00Z","company_id":"` +
			id.New().String() + `"}`)
	lost := d
	lost.ClosedAt, lost.LostReason = new("2025-06-01T00:00:00.000000Z"), new("price")
	lost.Status, lost.Currency = "lost", "USD"
	if diff := cmp.Diff(lost, d); diff != "" {
		t.Errorf("a lost deal (-want +got):\n%s", diff)
	}
	for body, want := range map[string]string{
		`{"closed_at":"2025-06-02T00:00:00Z"}`:                               "#/closed_at read_only",
		`{"stage_id":null}`:                                                  "#/stage_id not_nullable",
		`{"status":"won","lost_reason":"x"}`:                                 "#/lost_reason contradicts_status",
		`{"status":"open","stage_id":"` + std.stage(t, "Won").ID + `"}`:      "#/status contradicts_stage",
		`{"status":"lost","stage_id":"` + std.stage(t, "Proposal").ID + `"}`: "#/status contradicts_stage",
	} {
		if got := ada.do(http.MethodPatch, dealsPath+"/"+d.ID, body).
			want(t, 422, "validation_failed"); got.field() != want {
			t.Errorf("%s: %s, want %s", body, got.field(), want)
		}
	}
	whole := ada.do(http.MethodGet, dealsPath+"/"+d.ID, nil)
	if got := ada.do(http.MethodPatch, dealsPath+"/"+d.ID, string(whole.Body)).
		want(t, 200, ""); got.Header.Get("ETag") != `"1.0"` {
		t.Errorf("the whole object sent back: %v %s", got.Header, got.Body)
	}
}

// TestADealIsWonOncePerEntryUnderFiftyRequests: each transition to won is announced once, even under concurrent
// requests.
func TestADealIsWonOncePerEntryUnderFiftyRequests(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	contact := ada.contact("ada@acme.example")
	d := ada.deal(`{"name":"Anvils","contact_id":"` + contact.ID + `"}`)
	won := ada.standard().stage(t, "Won").ID
	rush := func() {
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				body := `{"status":"won"}`
				if i%2 == 0 {
					body = `{"stage_id":"` + won + `"}`
				}
				ada.do(http.MethodPatch, dealsPath+"/"+d.ID, body).want(t, 200, "")
			})
		}
		wg.Wait()
	}
	rush()
	type facts struct{ Won, Reopened, Moved, Updated int }
	got := ada.told()
	if diff := cmp.Diff(facts{Won: 1, Moved: 1}, facts{
		Won: got["deal.won"], Moved: got["deal.stage_changed"], Updated: got["deal.updated"],
	}); diff != "" {
		t.Errorf("events of one entry (-want +got):\n%s", diff)
	}
	ada.move(d.ID, `{"status":"open"}`)
	rush()
	got = ada.told()
	if diff := cmp.Diff(facts{Won: 2, Reopened: 1, Moved: 3}, facts{
		Won: got["deal.won"], Reopened: got["deal.reopened"], Moved: got["deal.stage_changed"],
	}); diff != "" {
		t.Errorf("events of two entries (-want +got):\n%s", diff)
	}
	if n := ada.effects(ada.Org)["lead.score"]; n != 1+3 { // the deal, won, reopened, won
		t.Errorf("%d scorings were asked for", n)
	}
	if got := len(ada.timeline(contact.ID, "types=deal.won").Data); got != 2 {
		t.Errorf("the timeline has %d wins", got)
	}
}

func TestListsOfDealsFilterSortAndCount(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	std := ada.standard()
	other := ada.pipeline(`{"name":"Renewals"}`)
	c, company, owner := ada.contact("ada@acme.example").ID, id.New().String(), id.New().String()
	ada.deal(`{"name":"a","amount":300,"contact_id":"` + c + `","expected_close_on":"2026-03-01"}`)
	ada.deal(`{"name":"b","amount":100,"company_id":"` + company +
		`","status":"won","closed_at":"2025-01-01T00:00:00Z"}`)
	ada.deal(`{"name":"c","amount":300,"owner_id":"` + owner + `","pipeline_id":"` + other.ID +
		`","expected_close_on":"2026-01-01"}`)
	ada.deal(`{"name":"d","stage_id":"` + std.stage(t, "Proposal").ID + `"}`)
	ada.deal(`{"name":"e","amount":200,"status":"lost","closed_at":"2025-02-01T00:00:00Z","contact_id":"` + c + `"}`)
	gone := ada.deal(`{"name":"gone","amount":50}`)
	ada.do(http.MethodDelete, dealsPath+"/"+gone.ID, nil).want(t, 204, "")
	s.signup().deal(`{"name":"foreign"}`)
	for query, want := range map[string]string{
		"":                        "e d c b a",
		"sort=created_at":         "a b c d e",
		"sort=-amount":            "c a e b d",
		"sort=expected_close_on":  "c a b d e",
		"pipeline_id=" + other.ID: "c",
		"stage_id=" + std.stage(t, "Proposal").ID: "d",
		"status=open":                 "d c a",
		"status=won":                  "b",
		"contact_id=" + c:             "e a",
		"company_id=" + company:       "b",
		"owner_id=" + owner:           "c",
		"min_amount=200":              "e c a",
		"max_amount=100&sort=-amount": "b d",
		"max_amount=0":                "d",
		"min_amount=100&max_amount=200&sort=created_at":  "b e",
		"closed_after=2025-01-01T00:00:00Z":              "e",
		"closed_before=2025-02-01T00:00:00Z":             "b",
		"closed_after=2024-01-01T00:00:00Z&sort=-amount": "e b",
		"archived=true":                                 "gone",
		"archived=true&sort=-amount":                    "gone",
		"archived=true&sort=expected_close_on":          "gone",
		"contact_id=" + c + "&status=lost":              "e",
		"status=open&sort=-amount&min_amount=1":         "c a",
		"owner_id=" + owner + "&sort=expected_close_on": "c",
	} {
		got := ada.names(dealsPath, query)
		if strings.HasPrefix(query, "sort=expected") && len(got) == len(want) && got[:3] == want[:3] {
			continue // deals without a date are sorted by id
		}
		if got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
		for _, how := range []string{"exact", "estimate"} {
			var p struct{ Total *int64 }
			ada.do(http.MethodGet, dealsPath+"?count="+how+"&"+query, nil).want(t, 200, "").into(t, &p)
			if p.Total == nil || *p.Total != int64(len(strings.Fields(want))) {
				t.Errorf("%s: %s count %v", query, how, p.Total)
			}
		}
	}
	for _, query := range []string{
		"limit=0", "sort=amount", "status=maybe", "stage_id=7", "min_amount=-1",
		"max_amount=x", "closed_after=soon", "color=red", "cursor=abc",
	} {
		ada.do(http.MethodGet, dealsPath+"?"+query, nil).want(t, 400, "")
	}
}

func TestABatchOfDealsAnswersEachRowInOrder(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	contact := ada.contact("ada@acme.example")
	std := ada.standard()
	known := ada.deal(`{"name":"Known","contact_id":"` + contact.ID + `"}`)
	foreign := s.signup().deal(`{"name":"Foreign"}`)
	before := ada.effects(ada.Org)["lead.score"]
	out := ada.batch(dealsPath, "deals", []string{
		`{"name":"Old","created_at":"2025-02-03T04:05:06Z","status":"won","closed_at":"2025-03-01T00:00:00Z",` +
			`"contact_id":"` + contact.ID + `"}`,
		`{"id":"` + known.ID + `","status":"won","closed_at":"2025-01-01T00:00:00Z"}`,
		`{"id":"` + known.ID + `","status":"open"}`,
		`{"id":"` + known.ID + `","status":"won"}`,
		`{"id":"` + known.ID + `","status":"won"}`,
		`{"id":"` + foreign.ID + `","name":"x"}`,
		`{"id":"7","name":"x"}`,
		`{"amount":5}`,
		`{"name":"x","status":"won","created_at":"2025-02-03T04:05:06Z","closed_at":"2025-01-01T00:00:00Z"}`,
		`{"id":"` + known.ID + `","created_at":"2020-01-01T00:00:00Z"}`,
		`{"name":"x","contact_id":"` + id.New().String() + `"}`,
		`{"name":"x","stage":"y"}`,
		`{"name":"New","stage_id":"` + std.stage(t, "Proposal").ID + `"}`,
		`{"id":"` + known.ID + `","amount":9,"currency":"JPY"}`,
	})
	if diff := cmp.Diff([]string{
		"created", "updated", "updated", "updated", "unchanged", "error not_found",
		"error validation_failed #/deals/6/id invalid_uuid",
		"error validation_failed #/deals/7/name required",
		"error validation_failed #/deals/8/closed_at out_of_range",
		"error validation_failed #/deals/9/created_at read_only",
		"error validation_failed #/deals/10/contact_id unknown_contact",
		"error validation_failed #/deals/11/stage unknown_field",
		"created", "updated",
	}, out.text); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int{
		"deal.created": 3, "deal.won": 3, "deal.stage_changed": 3, "deal.reopened": 1,
		"deal.updated": 1,
	}, ada.told()); diff != "" {
		t.Error(diff)
	}
	if n := ada.effects(ada.Org)["lead.score"] - before; n != 1 {
		t.Errorf("%d scorings of one contact", n)
	}
	got := ada.do(http.MethodGet, dealsPath+"/"+known.ID, nil)
	var d deal
	got.into(t, &d)
	if tag := got.Header.Get("ETag"); tag != `"2.0"` {
		t.Errorf("ETag %q, want %q", tag, `"2.0"`)
	}
	want := d
	want.Status, want.Amount, want.Currency = "won", 9, "JPY"
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("the deal (-want +got):\n%s", diff)
	}
	if d.ClosedAt == nil || strings.HasPrefix(*d.ClosedAt, "2025") {
		t.Errorf("closed_at %v in %s, want a new time", d.ClosedAt, got.Body)
	}
	ada.do(http.MethodGet, dealsPath+"/"+out.ids[0], nil).want(t, 200, "").into(t, &d)
	if d.CreatedAt != "2025-02-03T04:05:06.000000Z" || *d.ClosedAt != "2025-03-01T00:00:00.000000Z" {
		t.Errorf("%+v", d)
	}
}

func TestADealIsArchivedAndRestored(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	p := ada.pipeline(`{"name":"Renewals"}`)
	d := ada.deal(`{"name":"Anvils","pipeline_id":"` + p.ID + `"}`)
	at := dealsPath + "/" + d.ID
	ada.do(http.MethodDelete, pipelinesPath+"/"+p.ID, nil).want(t, 409, "in_use")
	ada.do(http.MethodDelete, at, nil, "If-Match", `"7.0"`).want(t, 412, "precondition_failed")
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	ada.do(http.MethodGet, at, nil).want(t, 404, "not_found")
	ada.do(http.MethodPatch, at, `{"status":"won"}`).want(t, 404, "not_found")
	ada.do(http.MethodGet, at+"?include_archived=true", nil).want(t, 200, "").into(t, &d)
	if d.ArchivedAt == nil {
		t.Error("no archived_at")
	}
	ada.do(http.MethodDelete, pipelinesPath+"/"+p.ID, nil).want(t, 204, "")
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 409, "conflict")
	ada.do(http.MethodPost, dealsPath, `{"name":"x","pipeline_id":"`+p.ID+`"}`).want(t, 422, "validation_failed")
	ada.do(http.MethodPost, pipelinesPath+"/"+p.ID+"/restore", nil).want(t, 200, "")
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
	ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
	if diff := cmp.Diff(map[string]int{"deal.created": 1, "deal.archived": 1, "deal.restored": 1},
		ada.told()); diff != "" {
		t.Error(diff)
	}
	ada.as(auth.Viewer).do(http.MethodPatch, at, `{}`).want(t, 403, "forbidden")
	ada.as(auth.Viewer).do(http.MethodGet, at, nil).want(t, 200, "")
}

func TestAPipelineKeepsWhatItsDealsStandOn(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	std := ada.standard()
	if fmt.Sprintf("%s %s %d %d", std.Stages[0].Name, std.Stages[4].Kind, std.Stages[3].Probability,
		len(std.Stages)) != "Qualification lost 100 5" {
		t.Errorf("an org begins with %+v", std)
	}
	made := ada.do(http.MethodPost, pipelinesPath,
		`{"name":"Renewals","stages":[{"name":"Talk","kind":"open"},{"name":"Yes","kind":"won"},{"name":"No",`+
			`"kind":"lost"},{"name":"Late","kind":"lost","probability":0}]}`).want(t, 201, "")
	var p pipeline
	made.into(t, &p)
	at := pipelinesPath + "/" + p.ID
	if location, tag := made.Header.Get("Location"), made.Header.Get("ETag"); location != at || tag != `"1.0"` {
		t.Errorf("Location %q, ETag %q; want %q, %q", location, tag, at, `"1.0"`)
	}
	if got := p.stage(t, "Talk").Probability; got != 50 {
		t.Errorf("the first stage has the probability %d, want 50", got)
	}
	if got := ada.do(http.MethodGet, at, nil).want(t, 200, ""); string(got.Body) != string(made.Body) {
		t.Errorf("read %s, created %s", got.Body, made.Body)
	}
	if got := ada.do(http.MethodPatch, at, string(made.Body)).want(t, 200, ""); got.Header.Get("ETag") != `"1.0"` ||
		string(got.Body) != string(made.Body) {
		t.Errorf("the whole object sent back: %v %s", got.Header, got.Body)
	}
	talk, yes, no, late := p.stage(t, "Talk").ID, p.stage(t, "Yes").ID, p.stage(t, "No").ID, p.stage(t, "Late").ID
	d := ada.deal(`{"name":"Anvils","pipeline_id":"` + p.ID + `","status":"lost"}`)
	if d.StageID != no {
		t.Errorf("lost into %+v", d)
	}
	stages := func(all ...string) string { return `{"stages":[` + strings.Join(all, ",") + `]}` }
	one := func(id, more string) string { return `{"id":"` + id + `"` + more + `}` }
	ada.do(http.MethodPatch, at, stages(one(talk, ""), one(yes, ""), one(late, ""))).want(t, 409, "in_use")
	ada.do(http.MethodPatch, at, stages(one(talk, ""), one(yes, ""), one(late, ""), one(no, `,"kind":"open"`))).
		want(t, 409, "in_use")
	for body, want := range map[string]string{
		`{"name":null}`:                                        "#/name not_nullable",
		`{"stages":null}`:                                      "#/stages not_nullable",
		`{"stages":[]}`:                                        "#/stages missing_kind",
		stages(one(talk, ""), one(yes, "")):                    "#/stages missing_kind",
		stages(one(talk, ""), one(talk, "")):                   "#/stages/1/id unknown_stage",
		stages(one(std.Stages[0].ID, "")):                      "#/stages/0/id unknown_stage",
		stages(`{"kind":"open"}`):                              "#/stages/0/name required",
		stages(`{"name":"x"}`):                                 "#/stages/0/kind required",
		stages(`{"name":"x","kind":"maybe"}`):                  "#/stages/0/kind not_allowed",
		stages(`{"name":"x","kind":"open","probability":101}`): "#/stages/0/probability out_of_range",
		stages(`{"name":"x","kind":"won","probability":50}`):   "#/stages/0/probability not_allowed",
		stages(`{"name":"Talk","kind":"open"}`, one(talk, "")): "#/stages/1/name repeated",
		stages(`{"name":"x","kind":"open","place":1}`):         "#/stages/0/place unknown_field",
		`{"default":null}`:                                     "#/default not_allowed",
	} {
		if got := ada.do(http.MethodPatch, at, body).want(t, 422, "validation_failed"); got.field() != want {
			t.Errorf("%s: %s, want %s", body, got.field(), want)
		}
	}
	changed := ada.do(http.MethodPatch, at,
		stages(`{"name":"First","kind":"open","probability":5}`, one(talk, `,"name":"Talks"`), one(yes, ""),
			one(no, ""))).want(t, 200, "")
	changed.into(t, &p)
	var names []string
	for _, st := range p.Stages {
		names = append(names, st.Name)
	}
	if diff := cmp.Diff([]string{"First", "Talks", "Yes", "No"}, names); diff != "" {
		t.Fatalf("stages (-want +got):\n%s", diff)
	}
	if p.Stages[1].ID != talk {
		t.Errorf("the renamed stage has the id %s, want %s", p.Stages[1].ID, talk)
	}
	if tag := changed.Header.Get("ETag"); tag != `"2.0"` {
		t.Errorf("ETag %q, want %q", tag, `"2.0"`)
	}
	if got := ada.do(http.MethodGet, at, nil).want(t, 200, ""); string(got.Body) != string(changed.Body) {
		t.Errorf("read %s, changed %s", got.Body, changed.Body)
	}
	if d = ada.move(d.ID, `{"status":"open"}`); d.StageID != p.Stages[0].ID {
		t.Errorf("reopened into %+v", d)
	}

	ada.do(http.MethodDelete, pipelinesPath+"/"+std.ID, nil).want(t, 409, "conflict")
	ada.do(http.MethodPatch, pipelinesPath+"/"+std.ID, `{"default":false}`).want(t, 422, "validation_failed")
	ada.do(http.MethodPatch, at, `{"default":true}`).want(t, 200, "")
	if got := ada.standard(); got.ID != p.ID {
		t.Errorf("the default is %+v", got)
	}
	ada.do(http.MethodDelete, pipelinesPath+"/"+std.ID, nil).want(t, 204, "")
	if got := ada.names(pipelinesPath, "count=exact"); got != "Renewals" {
		t.Errorf("live: %s", got)
	}
	if got := ada.names(pipelinesPath, "archived=true"); got != "Sales" {
		t.Errorf("archived: %s", got)
	}
	ada.as(auth.Member).do(http.MethodPatch, at, `{}`).want(t, 200, "")
	ada.as(auth.Viewer).do(http.MethodPatch, at, `{}`).want(t, 403, "forbidden")
	ada.as(auth.Viewer).do(http.MethodGet, at, nil).want(t, 200, "")
}
