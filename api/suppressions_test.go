package api_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const (
	suppressionsPath       = "/api/v1/suppressions"
	suppressionImportsPath = suppressionsPath + "/imports"
)

func TestASuppressionIsMadeFoundAndLiftedWithAReason(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	var s struct{ ID, Purpose, Reason string }
	ada.do("POST", suppressionsPath, `{"email":"Eve@Example.com","note":"asked by phone"}`).want(t, 201, "").into(t, &s)
	if s.Purpose != "all" || s.Reason != "manual" {
		t.Errorf("made %+v", s)
	}
	again := ada.do("POST", suppressionsPath, `{"email":"eve@example.COM"}`).want(t, 200, "")
	if !strings.Contains(string(again.Body), s.ID) {
		t.Errorf("made twice: %s", again.Body)
	}
	ada.do("POST", suppressionsPath, `{"domain":"Bücher.example","purpose":"marketing"}`).want(t, 201, "")
	for query, want := range map[string]string{
		"?email=EVE@example.com&count=exact": `"total":1`, "?email=adam@example.com&count=exact": `"total":0`,
		"?domain=xn--bcher-kva.example&count=exact": `"total":1`, "?purpose=all&count=exact": `"total":1`,
		"?lifted=true&count=exact": `"total":0`, "?count=exact": `"total":2`,
	} {
		got := ada.do("GET", suppressionsPath+query, nil).want(t, 200, "")
		if !strings.Contains(string(got.Body), want) {
			t.Errorf("%s: %s, want %s", query, got.Body, want)
		}
	}
	at := suppressionsPath + "/" + s.ID
	ada.do("DELETE", at, nil).want(t, 400, "invalid_parameter")
	ada.as(auth.Member).do("DELETE", at+"?reason=x", nil).want(t, 403, "forbidden")
	ada.do("DELETE", at+"?reason=asked+again", nil).want(t, 204, "")
	ada.do("DELETE", at+"?reason=asked+again", nil).want(t, 204, "")
	if got := ada.do("GET", suppressionsPath+"?lifted=true", nil); !strings.Contains(string(got.Body), "asked again") {
		t.Errorf("lifted: %s", got.Body)
	}
	ada.do("POST", suppressionsPath, `{"email":"eve@example.com"}`).want(t, 201, "")
	for _, body := range []string{
		`{}`, `{"email":"x"}`, `{"email":"a@example.com","domain":"example.com"}`, `{"domain":"example"}`,
		`{"email":"a@example.com","purpose":"none"}`, `{"email":"a@example.com","reason":"whim"}`,
	} {
		ada.do("POST", suppressionsPath, body).want(t, 422, "validation_failed")
	}
}

func TestOnlyAnOwnerLiftsAComplaint(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	var s struct{ ID string }
	ada.as(auth.Member).do("POST", suppressionsPath, `{"email":"eve@example.com","reason":"complaint"}`).
		want(t, 201, "").into(t, &s)
	at := suppressionsPath + "/" + s.ID + "?reason=mistake"
	ada.as(auth.Admin).do("DELETE", at, nil).want(t, 403, "forbidden")
	ada.do("DELETE", at, nil).want(t, 204, "")
}

func TestASuppressionOutlivesItsContactWithoutTheAddress(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	eve := ada.contact("eve@example.com")
	ada.do("POST", suppressionsPath, `{"email":"EVE@example.com","note":"Eve Moneypenny"}`).want(t, 201, "")
	ada.do("POST", contactsPath+"/"+eve.ID+"/purge", nil).want(t, 204, "")
	got := string(ada.do("GET", suppressionsPath+"?email=eve@example.com&count=exact", nil).want(t, 200, "").Body)
	if !strings.Contains(got, `"total":1`) || strings.Contains(strings.ToLower(got), "eve") {
		t.Errorf("after the purge: %s", got)
	}
}

// importState is an import of suppressions as it is shown.
type importState struct {
	ID        string
	Status    string
	Added     int     `json:"rows_added"`
	Unchanged int     `json:"rows_unchanged"`
	Failed    int     `json:"rows_failed"`
	ErrorsURL *string `json:"errors_url"`
}

func TestAFileOfSuppressionsIsImportedAndItsRefusedLinesAreListed(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	const file = "\ufeffAddress;Purpose;Reason;Note;Score\n" +
		"Eve@Example.com;;;moved away;1\n" +
		"@Spam.example;marketing;complaint;;2\n" +
		"eve@example.COM;;;again;3\n" +
		"no address;;;;4\n" +
		"adam@example.com;never;;;5\n" +
		"adam@example.com\n"
	bring := func() (got importState) {
		sent := ada.sendTo(suppressionImportsPath, nil, "file", file, "reason", "hard_bounce").want(t, 202, "")
		sent.into(t, &got)
		if at := sent.Header.Get("Location"); at != suppressionImportsPath+"/"+got.ID || got.Status != "queued" {
			t.Errorf("Location %s, %+v", at, got)
		}
		ada.workFiles()
		ada.do("GET", suppressionImportsPath+"/"+got.ID, nil).want(t, 200, "").into(t, &got)
		return got
	}
	first := bring()
	want := importState{first.ID, "completed", 3, 2, 1, first.ErrorsURL}
	if diff := cmp.Diff(want, first); diff != "" || first.ErrorsURL == nil {
		t.Fatalf("the import (-want +got):\n%s", diff)
	}
	lines := string(ada.do("GET", strings.TrimPrefix(*first.ErrorsURL, ada.Deps.PublicURL), nil).want(t, 200, "").Body)
	if want := `row;code;detail;Address;Purpose;Reason;Note;Score
5;invalid_domain;"domain: This is no domain, such as example.com.";no address;;;;4
`; lines != want {
		t.Errorf("refused lines:\n%s", lines)
	}
	var more struct {
		WarningsURL *string `json:"warnings_url"`
		Delimiter   string
		LeftOut     []struct{ Column, Reason string } `json:"left_out"`
	}
	ada.do("GET", suppressionImportsPath+"/"+first.ID, nil).want(t, 200, "").into(t, &more)
	warnings := string(ada.download(more.WarningsURL).want(t, 200, "").Body)
	if want := "row,column,code,detail\n6,Purpose,not_allowed,\"The value is one of marketing, all.\"\n"; warnings !=
		want {
		t.Errorf("warnings:\n%s", warnings)
	}
	if more.Delimiter != ";" || len(more.LeftOut) != 1 || more.LeftOut[0].Column != "Score" {
		t.Errorf("%+v", more)
	}
	for query, want := range map[string]string{
		"?email=eve@example.com":                 `"reason":"hard_bounce"`,
		"?domain=spam.example":                   `"reason":"complaint"`,
		"?domain=spam.example&purpose=marketing": `"source":"import"`,
		"?email=eve@example.com&purpose=all":     `"note":"moved away"`,
		"?count=exact":                           `"total":3`,
		"?email=adam@example.com&count=exact":    `"total":1`,
	} {
		got := ada.do("GET", suppressionsPath+query, nil).want(t, 200, "")
		if !strings.Contains(string(got.Body), want) {
			t.Errorf("%s: %s, want %s", query, got.Body, want)
		}
	}
	var job struct {
		Kind, Status, Href string
		Done               int
	}
	ada.do("GET", "/api/v1/jobs/"+first.ID, nil).want(t, 200, "").into(t, &job)
	if job.Kind != "suppression_import" || job.Status != "completed" || job.Done != 6 ||
		job.Href != suppressionImportsPath+"/"+first.ID {
		t.Errorf("the job is %+v", job)
	}
	if again := bring(); again.Added != 0 || again.Unchanged != 5 || again.Failed != 1 {
		t.Errorf("the second time: %+v", again)
	}
	eve := ada.contact("nowhere@example.com")
	ada.sendTo(suppressionImportsPath, nil, "file", "email,purpose\nNoWhere@example.com,never\n", "strict", "true").
		want(t, 202, "")
	ada.workFiles()
	ada.do("POST", contactsPath+"/"+eve.ID+"/purge", nil).want(t, 204, "")
	if n := ada.count("suppression_import_error WHERE position('here' IN encode(cells, 'escape')) > 0"); n != 0 {
		t.Error("a refused line has the address of a purged contact")
	}
}

func TestAFileOfSuppressionsThatCannotBeReadIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	for name, parts := range map[string][]string{
		"no file":        {"purpose", "all"},
		"empty":          {"file", ""},
		"no address":     {"file", "name\nEve\n"},
		"another kind":   {"file", "<!doctype html><html>"},
		"a word unknown": {"file", "email\na@example.com\n", "purpose", "never"},
		"a part unknown": {"file", "email\na@example.com\n", "mapping", "{}"},
	} {
		if got := ada.sendTo(suppressionImportsPath, nil, parts...); got.Status != 422 {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	ada.as(auth.Viewer).sendTo(suppressionImportsPath, nil, "file", "email\na@example.com\n").want(t, 403, "forbidden")
	for _, table := range []string{"suppression_import", "suppression_import_block", "job"} {
		if n := ada.count(table); n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
}

func TestAMergeTakesTheWishesOfAPersonAndItsEmailsToTheSurvivor(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	winner, loser := ada.contact("eve@work.example"), ada.contact("eve@home.example")
	for _, body := range []string{
		`{"email":"eve@home.example","purpose":"marketing","reason":"unsubscribe","note":"by phone"}`,
		`{"email":"eve@home.example","purpose":"all","reason":"hard_bounce"}`,
		`{"domain":"work.example","purpose":"marketing"}`,
	} {
		ada.do("POST", suppressionsPath, body).want(t, 201, "")
	}
	other := ada.contact("bob@home.example")
	ada.do("POST", emailsPath, map[string]string{
		"contact_id": other.ID, "mailbox_id": ada.sandboxMailbox(), "subject": "Hi", "text": "Good day",
	}).want(t, 201, "")
	ada.exec(`UPDATE email SET contact_id = $1`, loser.ID) // one that was sent before the bounce
	ada.exec(`INSERT INTO email_fact (org_id, id, email_id, contact_id, kind, machine, why, at)
		SELECT org_id, gen_random_uuid(), id, contact_id, 'opened', false, '{}', now() FROM email`)
	ada.exec(`INSERT INTO thread (org_id, id, mailbox_id, contact_id, subject, incoming, unread, last_message_at,
			created_at)
		SELECT org_id, thread_id, mailbox_id, contact_id, subject, 1, true, now(), now() FROM email`)
	ada.exec(`INSERT INTO message (org_id, id, mailbox_id, identity, via, received_at, read_at, class, thread_id,
			contact_id)
		SELECT org_id, gen_random_uuid(), mailbox_id, 'x', 'http', now(), now(), 'human', thread_id,
			contact_id FROM email`)
	about := func(contact string) (n int) {
		t.Helper()
		if err := testkit.Pgx(t, ada.DB.URL).QueryRow(t.Context(), `SELECT
			(SELECT count(*) FROM thread WHERE contact_id = $1) + (SELECT count(*) FROM message WHERE contact_id = $1)
			+ (SELECT count(*) FROM email_fact WHERE contact_id = $1)`, contact).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	type held struct {
		Emails       []struct{ Subject string }
		Suppressions []struct {
			Purpose, Reason, Source, Note string
			LiftReason                    *string `json:"lift_reason"`
		}
	}
	export := func(contact string) (h held) {
		ada.do("GET", contactsPath+"/"+contact+"/data-export", nil).want(t, 200, "").into(t, &h)
		return h
	}
	if h := export(loser.ID); len(h.Suppressions) != 2 || len(h.Emails) != 1 {
		t.Errorf("before the merge: %+v", h)
	}
	ada.do("POST", contactsPath+"/"+winner.ID+"/merge", map[string]any{"loser_ids": []string{loser.ID}}).
		want(t, 200, "")
	h := export(winner.ID)
	if len(h.Emails) != 1 || len(h.Suppressions) != 2 || h.Suppressions[1].Reason != "unsubscribe" ||
		h.Suppressions[1].Purpose != "marketing" || h.Suppressions[1].Source != "merge" {
		t.Errorf("after the merge: %+v", h)
	}
	if n := about(winner.ID); n != 3 {
		t.Errorf("the survivor has %d of the thread, the message and the open", n)
	}
	ada.do("POST", mergesPath+"/"+ada.first(mergesPath)+"/undo", nil).want(t, 200, "")
	if h := export(winner.ID); len(h.Emails) != 0 || h.Suppressions[1].LiftReason == nil {
		t.Errorf("after the undo: %+v", h)
	}
	if h := export(loser.ID); len(h.Emails) != 1 || len(h.Suppressions) != 2 {
		t.Errorf("the loser after the undo: %+v", h)
	}
	if n := about(loser.ID); n != 3 {
		t.Errorf("the loser has %d of the thread, the message and the open back", n)
	}
}
