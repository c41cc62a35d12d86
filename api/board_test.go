package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
)

type boardDeal struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	StageID  string `json:"stage_id"`
	Position string `json:"position"`
}

type boardBody struct {
	PipelineID string `json:"pipeline_id"`
	Stages     []struct {
		StageID string `json:"stage_id"`
		Count   int    `json:"count"`
		Sums    []struct {
			Currency string `json:"currency"`
			Amount   int64  `json:"amount"`
		} `json:"sums"`
		Deals      []boardDeal `json:"deals"`
		NextCursor *string     `json:"next_cursor"`
	} `json:"stages"`
}

// boardPath returns the path of the board of the caller's default pipeline, and its stages by name.
func (c *caller) boardPath() (path string, stages map[string]string) {
	c.Helper()
	var l struct {
		Data []struct {
			ID     string
			Stages []struct{ ID, Name string }
		}
	}
	c.do(http.MethodGet, "/api/v1/crm/pipelines", nil).want(c, 200, "").into(c, &l)
	stages = map[string]string{}
	for _, s := range l.Data[0].Stages {
		stages[s.Name] = s.ID
	}
	return "/api/v1/crm/pipelines/" + l.Data[0].ID + "/board", stages
}

func (c *caller) board(path string) (b boardBody) {
	c.Helper()
	c.do(http.MethodGet, path, nil).want(c, 200, "").into(c, &b)
	return b
}

func (c *caller) newDeal(name, more string) (d boardDeal) {
	c.Helper()
	c.do(http.MethodPost, "/api/v1/crm/deals", fmt.Sprintf(`{"name":%q%s}`, name, more)).want(c, 201, "").into(c, &d)
	return d
}

// column returns the names of the deals of a stage, in the order of the board.
func (c *caller) column(path, stage string) string {
	c.Helper()
	var names []string
	for _, s := range c.board(path).Stages {
		if s.StageID == stage {
			for _, d := range s.Deals {
				names = append(names, d.Name)
			}
		}
	}
	return strings.Join(names, " ")
}

func TestABoardHasCountsSumsAndTheFirstDealsOfEachStage(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada, stranger := s.signup(), s.signup()
	path, stages := ada.boardPath()
	for n := range 5 {
		currency := []string{"EUR", "USD"}[n%2]
		ada.newDeal(fmt.Sprintf("d%d", n), fmt.Sprintf(`,"amount":%d,"currency":%q`, 100*(n+1), currency))
	}
	gone := ada.newDeal("gone", `,"amount":1000000`)
	ada.do(http.MethodDelete, "/api/v1/crm/deals/"+gone.ID, nil).want(t, 204, "")
	ada.newDeal("won", `,"status":"won","amount":7`)

	b := ada.board(path + "?limit=2")
	if len(b.Stages) != 5 || !strings.Contains(path, b.PipelineID) {
		t.Fatalf("a board of %d stages: %+v", len(b.Stages), b)
	}
	first := b.Stages[0]
	if first.StageID != stages["Qualification"] || first.Count != 5 || first.NextCursor == nil {
		t.Errorf("the first stage: %+v", first)
	}
	if got := fmt.Sprint(first.Sums); got != "[{EUR 900} {USD 600}]" {
		t.Errorf("sums %s", got)
	}
	if b.Stages[3].Count != 1 || b.Stages[1].Count != 0 || b.Stages[1].NextCursor != nil {
		t.Errorf("other stages: %+v", b.Stages)
	}
	var names []string
	for next := ""; ; {
		one := ada.board(path + "?limit=2&stage_id=" + stages["Qualification"] + next)
		if len(one.Stages) != 1 {
			t.Fatalf("one stage was asked for: %+v", one)
		}
		for _, d := range one.Stages[0].Deals {
			names = append(names, d.Name)
		}
		if one.Stages[0].NextCursor == nil {
			break
		}
		next = "&cursor=" + *one.Stages[0].NextCursor
	}
	if diff := cmp.Diff([]string{"d4", "d3", "d2", "d1", "d0"}, names); diff != "" {
		t.Errorf("pages of a stage, newest first (-want +got):\n%s", diff)
	}
	second := ada.board(path + "?limit=2&stage_id=" + stages["Qualification"] + "&cursor=" + *first.NextCursor)
	if got := second.Stages[0].Deals[0].Name; got != "d2" {
		t.Errorf("the page after the board's begins with %s", got)
	}
	ada.do(http.MethodGet, path+"?cursor="+*first.NextCursor, nil).want(t, 400, "invalid_cursor")
	ada.do(http.MethodGet, path+"?stage_id="+id.New().String(), nil).want(t, 400, "invalid_parameter")
	stranger.do(http.MethodGet, path, nil).want(t, 404, "not_found")
	ada.as(auth.Viewer).do(http.MethodGet, path, nil).want(t, 200, "")
}

func TestADealIsMovedNextToAnother(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	path, stages := ada.boardPath()
	d := map[string]boardDeal{}
	for _, name := range []string{"d", "c", "b", "a"} {
		d[name] = ada.newDeal(name, "")
	}
	move := func(name, how string) answer {
		return ada.do(http.MethodPatch, "/api/v1/crm/deals/"+d[name].ID, "{"+how+"}")
	}
	for _, c := range []struct{ name, how, stage, want string }{
		{"d", fmt.Sprintf(`"before_id":%q`, d["a"].ID), "Qualification", "d a b c"},
		{"a", fmt.Sprintf(`"after_id":%q`, d["c"].ID), "Qualification", "d b c a"},
		{"a", fmt.Sprintf(`"after_id":%q`, d["d"].ID), "Qualification", "d a b c"},
		{"b", fmt.Sprintf(`"stage_id":%q`, stages["Proposal"]), "Qualification", "d a c"},
		{"c", fmt.Sprintf(`"stage_id":%q`, stages["Proposal"]), "Proposal", "c b"},
		{"d", fmt.Sprintf(`"stage_id":%q,"before_id":%q`, stages["Proposal"], d["b"].ID), "Proposal", "c d b"},
		{"a", fmt.Sprintf(`"stage_id":%q,"after_id":%q`, stages["Proposal"], d["b"].ID), "Proposal", "c d b a"},
	} {
		move(c.name, c.how).want(t, 200, "")
		if got := ada.column(path, stages[c.stage]); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.name, c.how, got, c.want)
		}
	}
	other := ada.newDeal("other", "")
	for how, field := range map[string]string{
		fmt.Sprintf(`"after_id":%q`, other.ID):                            "#/after_id unknown_deal",
		fmt.Sprintf(`"before_id":%q`, id.New()):                           "#/before_id unknown_deal",
		fmt.Sprintf(`"after_id":%q`, d["a"].ID):                           "#/after_id same_deal",
		`"after_id":null`:                                                 "#/after_id not_nullable",
		`"after_id":"x"`:                                                  "#/after_id invalid_uuid",
		fmt.Sprintf(`"after_id":%q,"before_id":%q`, d["b"].ID, d["c"].ID): "#/before_id contradiction",
		fmt.Sprintf(`"after_id":%q,"position":"b"`, d["b"].ID):            "#/after_id contradiction",
		`"position":"a0"`:                                                 "#/position invalid_format",
		`"position":"A"`:                                                  "#/position invalid_format",
		`"position":null`:                                                 "#/position not_nullable",
		fmt.Sprintf(`"position":%q`, strings.Repeat("a", 1001)):           "#/position invalid_format",
	} {
		if got := move("a", how).want(t, 422, "validation_failed"); got.field() != field {
			t.Errorf("%.60s: %s, want %s", how, got.field(), field)
		}
	}
	move("a", `"position":"1"`).want(t, 200, "")
	if got := ada.column(path, stages["Proposal"]); got != "a c d b" {
		t.Errorf("after a position was set: %q", got)
	}
	before := ada.do(http.MethodGet, "/api/v1/crm/deals/"+d["a"].ID, nil)
	after := move("a", fmt.Sprintf(`"before_id":%q`, d["c"].ID)).want(t, 200, "")
	if before.Header.Get("ETag") != after.Header.Get("ETag") {
		t.Error("a move to the place where the deal is changed it")
	}
	ada.do(http.MethodPatch, "/api/v1/crm/deals/"+d["a"].ID, string(after.Body)).want(t, 200, "")
}

func TestConcurrentMovesKeepATotalOrder(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	path, stages := ada.boardPath()
	anchor := ada.newDeal("anchor", "")
	var all []boardDeal
	for n := range 12 {
		all = append(all, ada.newDeal(fmt.Sprintf("d%d", n), ""))
	}
	var moves sync.WaitGroup
	for _, d := range all {
		moves.Go(func() {
			for _, side := range []string{"after_id", "before_id", "after_id"} {
				ada.do(http.MethodPatch, "/api/v1/crm/deals/"+d.ID, fmt.Sprintf(`{%q:%q}`, side, anchor.ID)).
					want(t, 200, "")
			}
		})
	}
	moves.Wait()
	names := strings.Fields(ada.column(path, stages["Qualification"]))
	if len(names) != 13 || names[0] != "anchor" {
		t.Errorf("order %v", names)
	}
	seen := map[string]bool{}
	for _, st := range ada.board(path).Stages {
		for _, d := range st.Deals {
			if seen[d.Position] {
				t.Errorf("two deals at %s", d.Position)
			}
			seen[d.Position] = true
		}
	}
}

// The column of the database and the code compute the same position from an id.
func TestAStoredPositionEqualsTheComputedOne(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	d := ada.newDeal("d", "")
	if n := s.count("deal WHERE place IS NULL AND position = $1 AND org_id = $2", d.Position, ada.Org); n != 1 {
		t.Errorf("the stored position differs from %s", d.Position)
	}
}

func TestACardHasTheNamesOfItsContactAndCompany(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	path, _ := c.boardPath()
	var contact, company, nameless struct{ ID string }
	c.do(http.MethodPost, contactsPath, `{"email":"bo@example.com","first_name":"Bo","last_name":"Lind"}`).
		want(t, 201, "").into(t, &contact)
	c.do(http.MethodPost, contactsPath, `{"email":"info@example.com","first_name":"In","last_name":"Fo"}`).
		want(t, 201, "").into(t, &nameless)
	c.exec(`UPDATE contact SET first_name = '', last_name = '' WHERE id = $1`, nameless.ID)
	c.do(http.MethodPost, "/api/v1/crm/companies", `{"name":"Lind AB"}`).want(t, 201, "").into(t, &company)
	c.newDeal("both", fmt.Sprintf(`,"contact_id":%q,"company_id":%q`, contact.ID, company.ID))
	c.newDeal("email", fmt.Sprintf(`,"contact_id":%q`, nameless.ID))
	c.newDeal("none", "")
	var b struct {
		Stages []struct {
			Deals []struct {
				Name    string  `json:"name"`
				Contact *string `json:"contact_name"`
				Company *string `json:"company_name"`
			} `json:"deals"`
		} `json:"stages"`
	}
	c.do(http.MethodGet, path, nil).want(t, 200, "").into(t, &b)
	got := map[string]string{}
	for _, d := range b.Stages[0].Deals {
		got[d.Name] = deref(d.Contact) + "/" + deref(d.Company)
	}
	want := map[string]string{"both": "Bo Lind/Lind AB", "email": "info@example.com/", "none": "/"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// deref returns the text of a nullable field, "" for null.
func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
