package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

func TestABatchAnswersEachRowInOrder(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	known := ada.contact("known@acme.example", `,"tag":"old"`)
	foreign := s.signup().contact("foreign@acme.example")
	rows := []string{
		`{"email":"new@acme.example","first_name":"N","last_name":"N","created_at":"2025-02-03T04:05:06Z",` +
			`"stage":"customer"}`,
		`{"email":"KNOWN@acme.example","tag":["hot"]}`,
		`{"id":"` + known.ID + `","phone":"1"}`,
		`{"email":"New@acme.example","first_name":"N"}`,
		`{"email":"bad","first_name":"N","last_name":"N"}`,
		`{"first_name":"N"}`,
		`{"id":"` + foreign.ID + `","phone":"1"}`,
		`{"id":"` + known.ID + `","email":"new@acme.example"}`,
		`{"email":"x@acme.example","first_name":"N","last_name":"N","stage":"dream","attributes":{"a":1}}`,
		`{"email":"y@acme.example","first_name":"N","last_name":"N","attributes":{"a":"text"}}`,
		`{"email":"z@acme.example","first_name":"N","last_name":"N","attributes":{"a":1}}`,
		`{"id":"` + known.ID + `","created_at":"2020-01-01T00:00:00Z"}`,
		`{"email":"odd@acme.example","first_name":"N","last_name":"N","phon":"1"}`,
		`{"email":5,"first_name":true}`,
		`null`,
		`{"email":"last@acme.example","first_name":"N","last_name":"N"}`,
	}
	var out struct {
		Data []struct {
			Index     int
			ID        *string
			Result    string
			LeadScore *float64 `json:"lead_score"`
			Error     *struct {
				Code   string
				Errors []struct{ Pointer, Code string }
			}
		}
	}
	ada.do(http.MethodPost, contactsPath+"/batch", `{"contacts":[`+strings.Join(rows, ",")+`]}`).want(t, 200, "").
		into(t, &out)
	var got []string
	for i, r := range out.Data {
		text := r.Result
		if r.Error != nil {
			text += " " + r.Error.Code
			for _, e := range r.Error.Errors {
				text += " " + e.Pointer + " " + e.Code
			}
		}
		if r.Index != i {
			t.Errorf("row %d has the index %d", i, r.Index)
		}
		if failed := r.Result == "error"; (r.ID == nil) != failed || (r.LeadScore == nil) != failed {
			t.Errorf("row %d: result %s, id %v, lead_score %v; want both unless it failed", i, r.Result, r.ID,
				r.LeadScore)
		}
		got = append(got, text)
	}
	if diff := cmp.Diff([]string{
		"created", "updated", "updated", "unchanged",
		"error validation_failed #/contacts/4/email invalid_email",
		"error validation_failed #/contacts/5/email required",
		"error not_found",
		"error contact_exists",
		"error validation_failed #/contacts/8/stage unknown_stage",
		"created",
		"error validation_failed #/contacts/10/attributes/a wrong_type",
		"error validation_failed #/contacts/11/created_at read_only",
		"error validation_failed #/contacts/12/phon unknown_field",
		"error validation_failed #/contacts/13/email invalid_type #/contacts/13/first_name invalid_type",
		"error validation_failed #/contacts/14 invalid_type",
		"created",
	}, got); diff != "" {
		t.Error(diff)
	}
	var made contact
	ada.do(http.MethodGet, contactsPath+"/"+*out.Data[0].ID, nil).into(t, &made)
	if made.CreatedAt != "2025-02-03T04:05:06.000000Z" || made.Stage != "customer" {
		t.Errorf("%+v", made)
	}
	count := func(kind string) (n int) {
		if err := s.DB.App.ReadTx(t.Context(), ada.Org, func(tx *postgres.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT count(*) FROM event WHERE type = $1`, []any{kind}, &n)
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if c, u := count("contact.created"), count("contact.updated"); c != 4 || u != 1 {
		t.Errorf("%d created and %d updated events, want 4 and 1", c, u)
	}
	for _, body := range []string{
		`[]`, `null`, `{}`, `{"contacts":[]}`, `{"contacts":null}`, `{"contacts":{}}`,
		`{"contacts":[{"email":5}],"more":1}`,
	} {
		ada.do(http.MethodPost, contactsPath+"/batch", body).want(t, 422, "validation_failed")
	}
	ada.do(http.MethodPost, contactsPath+"/batch", `{"contacts":[`+strings.Repeat(`{},`, 1000)+`{}]}`).want(t, 422, "")
}

func TestAThousandRowsInOneBatch(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	send := func(first string) (results map[string]int, took time.Duration) {
		var rows []string
		for i := range 1000 {
			rows = append(rows,
				fmt.Sprintf(`{"email":"p%d@acme.example","first_name":%q,"last_name":"L","tag":["t%d"]}`, i, first,
					i%7))
		}
		began := time.Now()
		var out struct {
			Data []struct {
				Index  int
				Result string
			}
		}
		ada.do(http.MethodPost, contactsPath+"/batch", `{"contacts":[`+strings.Join(rows, ",")+`]}`).want(t, 200, "").
			into(t, &out)
		results = map[string]int{}
		for i, r := range out.Data {
			if r.Index != i {
				t.Fatalf("row %d has index %d", i, r.Index)
			}
			results[r.Result]++
		}
		return results, time.Since(began)
	}
	for _, c := range []struct{ first, want string }{{"A", "created"}, {"A", "unchanged"}, {"B", "updated"}} {
		got, took := send(c.first)
		if got[c.want] != 1000 {
			t.Errorf("%v, want 1000 %s", got, c.want)
		}
		t.Logf("1000 %s in %v", c.want, took)
	}
}
