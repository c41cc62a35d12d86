package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// tables that may hold anything about a contact, as text.
var holding = []string{"contact", "contact_score", "contact_tag", "contact_word", "segment_member", "score_history", "event", "idempotency_key"}

func (c *caller) traces(of string) (found []string) {
	c.Helper()
	for _, table := range holding {
		var n int
		text := "t::text"
		if table == "idempotency_key" {
			text = "convert_from(answer, 'UTF8')"
		}
		if err := c.DB.App.View(c.Context(), c.Org, func(tx *postgres.Tx) error {
			return tx.QueryRow(c.Context(), `SELECT count(*) FROM `+table+` t WHERE `+text+` LIKE '%' || $1 || '%'`, []any{of}, &n)
		}); err != nil {
			c.Fatal(err)
		}
		if n > 0 {
			found = append(found, table)
		}
	}
	return found
}

func TestAPurgeLeavesOnlyTheNewsOfIt(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	other := ada.contact("other@acme.example", `,"tag":"hot"`)
	var c contact
	ada.do(http.MethodPost, contactsPath, `{"email":"secretive@acme.example","first_name":"Ada","last_name":"Lovelace","tag":"hot","segment":"q3"}`, "Idempotency-Key", "k1").want(t, 201, "").into(t, &c)
	ada.do(http.MethodPatch, contactsPath+"/"+c.ID, `{"stage":"sql"}`).want(t, 200, "")

	var held struct {
		Contact contact `json:"contact"`
		Events  []struct {
			Type string
			Data struct{ Object contact }
		} `json:"events"`
		ScoreHistory []any `json:"score_history"`
	}
	ada.do(http.MethodGet, contactsPath+"/"+c.ID+"/data-export", nil).want(t, 200, "").into(t, &held)
	if held.Contact.Email != "secretive@acme.example" || len(held.Events) != 2 || held.Events[0].Type != "contact.created" || held.Events[1].Data.Object.Stage != "sql" || held.ScoreHistory == nil {
		t.Errorf("%+v", held)
	}
	before := ada.traces(c.ID)
	if len(before) != len(holding)-1 { // nothing has been recorded yet
		t.Errorf("traces before: %v", before)
	}

	ada.do(http.MethodPost, contactsPath+"/"+c.ID+"/purge", nil).want(t, 204, "")
	if left := strings.Join(ada.traces("secretive"), " "); left != "" {
		t.Errorf("the address is left in %s", left)
	}
	if left := strings.Join(ada.traces(c.ID), " "); left != "event" {
		t.Errorf("the id is left in %q, want the event that tells of the purge alone", left)
	}
	ada.do(http.MethodPost, contactsPath+"/"+c.ID+"/purge", nil).want(t, 404, "not_found")
	ada.do(http.MethodGet, contactsPath+"/"+c.ID+"/data-export", nil).want(t, 404, "not_found")
	ada.do(http.MethodGet, contactsPath+"/"+other.ID, nil).want(t, 200, "")
	if got := ada.do(http.MethodGet, contactsPath+"?tag=hot", nil); !strings.Contains(string(got.Body), other.ID) || strings.Contains(string(got.Body), c.ID) {
		t.Errorf("%s", got.Body)
	}
}

func TestTheScoreModelIsShown(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	var m struct {
		Confidence, Version string
		Metrics             map[string]float64
		Features            []struct {
			Feature, Value string
			Weight         float64
		}
	}
	s.signup().do(http.MethodGet, "/api/v1/ai/score-model", nil).want(t, 200, "").into(t, &m)
	if m.Confidence != "prior" || m.Version != "prior-1" || m.Metrics == nil || len(m.Features) < 40 || m.Features[0].Value != "evangelist" {
		t.Errorf("%+v", m)
	}
}
