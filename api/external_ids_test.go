package api_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// identified is a record with its ids in other systems.
type identified struct {
	ID          string
	Email       string
	Name        string
	ExternalIDs map[string]string `json:"external_ids"`
}

type identifiedPage struct{ Data []identified }

type identifiedBatch struct {
	Data []struct {
		Result string
		ID     *string
		Error  *struct {
			Code       string
			ExistingID string `json:"existing_id"`
		}
	}
}

// externalKinds are the paths of the kinds of records with external ids, and the members that a new one needs. A %
// stands for what differs.
func externalKinds(contact string) map[string]string {
	return map[string]string{
		contactsPath:  `"email":"%@x.example","first_name":"A","last_name":"B"`,
		companiesPath: `"name":"%"`,
		dealsPath:     `"name":"%"`,
		notesPath:     `"body":"%","contact_id":"` + contact + `"`,
		tasksPath:     `"title":"%"`,
	}
}

func TestARecordOfEachKindIsFoundByItsExternalID(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	for path, members := range externalKinds(ada.contact("about@x.example").ID) {
		t.Run(path, func(t *testing.T) {
			body := func(name, ids string) string {
				return "{" + strings.ReplaceAll(members, "%", name) + `,"external_ids":` + ids + "}"
			}
			var first, other identified
			ada.do(http.MethodPost, path, body("first", `{"hubspot":"123","legacy.crm":"a:b"}`)).want(t, 201, "").
				into(t, &first)
			if first.ExternalIDs["hubspot"] != "123" || first.ExternalIDs["legacy.crm"] != "a:b" {
				t.Errorf("external_ids %v", first.ExternalIDs)
			}
			at := path + "/" + first.ID
			found := func(key string) (ids []string) {
				t.Helper()
				for _, sort := range []string{"-created_at", "created_at"} {
					ids = nil
					var page identifiedPage
					ada.do(http.MethodGet, path+"?count=estimate&sort="+sort+"&external_id="+key, nil).want(t, 200, "").
						into(t, &page)
					for _, r := range page.Data {
						ids = append(ids, r.ID)
					}
				}
				return ids
			}
			for key, want := range map[string]string{
				"hubspot:123": first.ID, "legacy.crm:a:b": first.ID, "hubspot:1234": "", "salesforce:123": "",
			} {
				if got := strings.Join(found(key), " "); got != want {
					t.Errorf("%s finds %q, want %q", key, got, want)
				}
			}
			ada.do(http.MethodGet, path+"?external_id=123", nil).want(t, 400, "")
			ada.do(http.MethodGet, path+"?external_id=HubSpot:123", nil).want(t, 400, "")

			var taken struct {
				ExistingID string `json:"existing_id"`
			}
			ada.do(http.MethodPost, path, body("second", `{"hubspot":"123"}`)).want(t, 409, "external_id_exists").
				into(t, &taken)
			if taken.ExistingID != first.ID {
				t.Errorf("existing_id %q, want %s", taken.ExistingID, first.ID)
			}
			ada.do(http.MethodPost, path, body("second", `{"hubspot":"124"}`)).want(t, 201, "").into(t, &other)
			ada.do(http.MethodPatch, path+"/"+other.ID, `{"external_ids":{"hubspot":"123"}}`).
				want(t, 409, "external_id_exists").into(t, &taken)

			ada.do(http.MethodPatch, at, `{"external_ids":{"hubspot":null,"pipedrive":"9"}}`).want(t, 200, "")
			var patched identified
			ada.do(http.MethodGet, at, nil).want(t, 200, "").into(t, &patched)
			if len(patched.ExternalIDs) != 2 || patched.ExternalIDs["pipedrive"] != "9" {
				t.Errorf("external_ids %v after the patch", patched.ExternalIDs)
			}
			ada.do(http.MethodPatch, path+"/"+other.ID, `{"external_ids":{"hubspot":"123"}}`).want(t, 200, "")

			// An archived record keeps its ids, and others may take them.
			ada.do(http.MethodDelete, at, nil).want(t, 204, "")
			if got := found("pipedrive:9&archived=true"); len(got) != 1 || got[0] != first.ID {
				t.Errorf("the archived record is found as %v", got)
			}
			ada.do(http.MethodPatch, path+"/"+other.ID, `{"external_ids":{"pipedrive":"9"}}`).want(t, 200, "")
			ada.do(http.MethodPost, at+"/restore", nil).want(t, 409, "external_id_exists").into(t, &taken)
			if taken.ExistingID != other.ID {
				t.Errorf("existing_id %q, want %s", taken.ExistingID, other.ID)
			}
			ada.do(http.MethodPatch, path+"/"+other.ID, `{"external_ids":null}`).want(t, 200, "")
			ada.do(http.MethodPost, at+"/restore", nil).want(t, 200, "")
			if got := strings.Join(found("pipedrive:9"), " "); got != first.ID {
				t.Errorf("the restored record is found as %q", got)
			}
			if stranger := s.signup(); stranger != nil {
				var page identifiedPage
				stranger.do(http.MethodGet, path+"?external_id=pipedrive:9", nil).want(t, 200, "").into(t, &page)
				if len(page.Data) != 0 {
					t.Error("another org finds the record")
				}
			}
		})
	}
}

func TestAnInvalidExternalIDIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	many := `{"s1":"1"`
	for _, c := range "abcdefghijklmnopqrst" {
		many += `,"` + string(c) + `":"1"`
	}
	for path, members := range externalKinds(ada.contact("about@x.example").ID) {
		for _, ids := range []string{
			`{"HubSpot":"1"}`, `{"":"1"}`, `{"` + strings.Repeat("a", 41) + `":"1"}`, `{"a b":"1"}`, `{"a/b":"1"}`,
			`{"hubspot":""}`, `{"hubspot":" "}`, `{"hubspot":"` + strings.Repeat("é", 256) + `"}`, `{"hubspot":1}`,
			`{"hubspot":{"a":"b"}}`, `{"hubspot":"a\u0007b"}`, many + "}", `["hubspot"]`, `"hubspot:1"`,
		} {
			ada.do(http.MethodPost, path, "{"+strings.ReplaceAll(members, "%", "x")+`,"external_ids":`+ids+"}").
				want(t, 422, "validation_failed")
		}
		ada.do(http.MethodPost, path, "{"+strings.ReplaceAll(members, "%", "long")+`,"external_ids":{"`+
			strings.Repeat("a", 40)+`":"`+strings.Repeat("é", 255)+`"}}`).want(t, 201, "")
	}
}

func TestABatchFindsRecordsByIDThenExternalIDThenTheirOwnKey(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	for path, row := range map[string][2]string{
		contactsPath:  {"contacts", `"email":"%@x.example","first_name":"A","last_name":"B"`},
		companiesPath: {"companies", `"name":"%","domain":"%.example"`},
		dealsPath:     {"deals", `"name":"%"`},
	} {
		t.Run(path, func(t *testing.T) {
			batch := func(rows ...string) (out identifiedBatch) {
				t.Helper()
				all := `{"` + row[0] + `":[{` + strings.Join(rows, "},{") + `}]}`
				ada.do(http.MethodPost, path+"/batch", all).want(t, 200, "").into(t, &out)
				return out
			}
			named := func(name, ids string) string {
				return strings.ReplaceAll(row[1], "%", name) + `,"external_ids":` + ids
			}
			first := batch(named("one", `{"hubspot":"1"}`), named("two", `{"hubspot":"2"}`)).Data
			again := batch(named("one", `{"hubspot":"1"}`), named("two", `{"hubspot":"2"}`)).Data
			for i := range again {
				if again[i].Result != "unchanged" || *again[i].ID != *first[i].ID {
					t.Errorf("the second run: row %d is %s", i, again[i].Result)
				}
			}

			// The external id finds the record though everything else is another.
			if moved := batch(named("renamed", `{"hubspot":"1"}`)).Data[0]; moved.Result != "updated" ||
				*moved.ID != *first[0].ID {
				t.Errorf("a row with a known external id is %+v", moved)
			}
			// Two records exchange ids, in one batch.
			exchanged := batch(`"id":"`+*first[0].ID+`","external_ids":{"hubspot":null}`,
				`"id":"`+*first[1].ID+`","external_ids":{"hubspot":"1"}`,
				`"id":"`+*first[0].ID+`","external_ids":{"hubspot":"2"}`).Data
			for i := range exchanged {
				if exchanged[i].Result != "updated" {
					t.Errorf("the exchange: row %d is %s %+v", i, exchanged[i].Result, exchanged[i].Error)
				}
			}
			taken := batch(`"id":"`+*first[0].ID+`","external_ids":{"hubspot":"1"}`,
				named("both", `{"hubspot":"1","other":"7"}`), `"external_ids":{"hubspot":"2","other":"7"}`).Data
			if e := taken[0].Error; e == nil || e.Code != "external_id_exists" || e.ExistingID != *first[1].ID {
				t.Errorf("a taken external id is %+v", taken[0])
			}
			if taken[1].Result != "updated" || *taken[1].ID != *first[1].ID {
				t.Errorf("a row with a known and a new external id is %+v", taken[1])
			}
			if e := taken[2].Error; e == nil || e.Code != "conflict" {
				t.Errorf("a row with the external ids of two records is %+v", taken[2])
			}
		})
	}
}

func TestAMergeTakesExternalIDsOverAndItsUndoGivesThemBack(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	keep := ada.contact("keep@x.example", `,"external_ids":{"hubspot":"1"}`)
	lose := ada.contact("lose@x.example", `,"external_ids":{"hubspot":"2","pipedrive":"7"}`)
	var m struct {
		ID      string
		Contact identified
	}
	ada.do(http.MethodPost, contactsPath+"/"+keep.ID+"/merge", `{"loser_ids":["`+lose.ID+`"]}`).want(t, 200, "").
		into(t, &m)
	if ids := m.Contact.ExternalIDs; ids["hubspot"] != "1" || ids["pipedrive"] != "7" {
		t.Errorf("external_ids %v after the merge", ids)
	}
	holder := func(key string) string {
		t.Helper()
		var page identifiedPage
		ada.do(http.MethodGet, contactsPath+"?external_id="+key, nil).want(t, 200, "").into(t, &page)
		if len(page.Data) != 1 {
			return ""
		}
		return page.Data[0].ID
	}
	if got := holder("pipedrive:7"); got != keep.ID {
		t.Errorf("the loser's id finds %q, want the survivor", got)
	}
	ada.do(http.MethodPost, mergesPath+"/"+m.ID+"/undo", nil).want(t, 200, "")
	for key, want := range map[string]string{"hubspot:1": keep.ID, "hubspot:2": lose.ID, "pipedrive:7": lose.ID} {
		if got := holder(key); got != want {
			t.Errorf("%s finds %q after the undo, want %s", key, got, want)
		}
	}

	export := ada.do(http.MethodGet, contactsPath+"/"+lose.ID+"/data-export", nil).want(t, 200, "")
	if !strings.Contains(string(export.Body), `"external_ids":{"hubspot":"2","pipedrive":"7"}`) {
		t.Error("the data export lacks external_ids")
	}
	ada.do(http.MethodPost, contactsPath+"/"+lose.ID+"/purge", nil).want(t, 204, "")
	for _, key := range []string{"hubspot:2", "pipedrive:7"} {
		if got := holder(key) + holder(key+"&archived=true"); got != "" {
			t.Errorf("%s finds %q after the purge", key, got)
		}
	}
}

// The first writer has the id, and a batch finds what another batch has just made.
func TestConcurrentWritesMakeOneRecordOfAnExternalID(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	const writers = 8
	statuses := make(chan int, writers)
	batches := make(chan identifiedBatch, writers)
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			name := "w" + strconv.Itoa(n)
			statuses <- ada.do(http.MethodPost, companiesPath,
				`{"name":"`+name+`","external_ids":{"one":"1"}}`).Status
			var out identifiedBatch
			rows := []string{}
			for i := range 20 {
				// each writer has the rows in another order
				id := strconv.Itoa((i*7 + n) % 20)
				rows = append(rows, `{"name":"`+name+`-`+id+`","external_ids":{"batch":"`+id+`"}}`)
			}
			answer := ada.do(http.MethodPost, companiesPath+"/batch", `{"companies":[`+strings.Join(rows, ",")+`]}`)
			if answer.Status != http.StatusOK {
				t.Errorf("a batch: %d %s", answer.Status, answer.Body)
				return
			}
			answer.into(t, &out)
			batches <- out
		})
	}
	all.Wait()
	close(statuses)
	close(batches)

	created := 0
	for status := range statuses {
		switch status {
		case http.StatusCreated:
			created++
		case http.StatusConflict:
		default:
			t.Errorf("status %d", status)
		}
	}
	if created != 1 {
		t.Errorf("%d companies were created with one external id", created)
	}
	made := map[string]bool{}
	for out := range batches {
		for _, row := range out.Data {
			if row.ID == nil {
				t.Errorf("a row failed: %+v", row.Error)
				continue
			}
			made[*row.ID] = true
		}
	}
	if len(made) != 20 {
		t.Errorf("%d companies for 20 external ids", len(made))
	}
}
