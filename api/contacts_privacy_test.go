package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// holding lists, for every table with a column for a contact, how a purged contact leaves it. erased means that
// eraseContact removes it; the test must find it there before the purge. Add each new table here, and fill it in the
// test below.
var holding = map[string]string{
	"contact": erased, "contact_score": erased, "contact_tag": erased, "contact_word": erased,
	"contact_attribute": erased, "segment_member": erased,
	"event": erased, "timeline": erased, "idempotency_key": erased, "contact_merge": erased, "contact_merged": erased,
	"deal": erased, "note": erased, "task": erased, "email": erased, "email_fact": erased,
	"enrolment": erased, "enrolment_result": erased, "broadcast_recipient": erased, "message": erased,
	"thread": erased, "segment_entry": erased,
	"contact_bulk": erased, "contact_bulk_part": erased, "score_history": erased, "score_snapshot": erased,
	"contact_duplicate":     erased,
	"contact_import_effect": erased, "word_index_mark": erased,
	"consent_request": erased,
	"segment_mark":    "an id on its way to the job that finds the contact gone",
}

const erased = "erased"

// columnsOfContacts are the names of columns that hold a contact's id.
var columnsOfContacts = []string{"contact_id", "contact_ids", "survivor_id", "loser_ids", "ids", "sample_ids"}

func TestEveryTableThatHoldsContactsIsNamedAmongThoseThatAPurgeEmpties(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	rows, err := testkit.Pgx(t, s.DB.URL).Query(t.Context(),
		`SELECT DISTINCT c.table_name::text FROM information_schema.columns c
		JOIN information_schema.columns o ON o.table_schema = 'public' AND o.table_name = c.table_name
		AND o.column_name = 'org_id'
		WHERE c.table_schema = 'public' AND c.column_name = ANY ($1)`, columnsOfContacts)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) < 10 {
		t.Fatal(tables, err)
	}
	for _, table := range tables {
		if holding[table] == "" {
			t.Errorf("%s holds contacts: say in holding how a purge empties it, and have the test of purges fill it",
				table)
		}
	}
}

// traces returns the org's tables that contain the text.
func (c *caller) traces(of string) (found []string) {
	c.Helper()
	conn := testkit.Pgx(c, c.DB.URL)
	rows, err := conn.Query(c.Context(),
		`SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id'
		WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
		AND c.relname NOT IN ('job', 'audit_log') ORDER BY 1`)
	if err != nil {
		c.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		c.Fatal(err)
	}
	for _, table := range tables {
		var n int
		text := "t::text"
		if table == "idempotency_key" {
			text = "convert_from(answer, 'UTF8')"
		}
		if err := conn.QueryRow(c.Context(),
			`SELECT count(*) FROM `+table+` t WHERE org_id = $2 AND `+text+` LIKE '%' || $1 || '%'`, of, c.Org).
			Scan(&n); err != nil {
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
	ada.exec(`INSERT INTO word_index (org_id) SELECT $1`, ada.Org)
	other := ada.contact("other@acme.example", `,"tag":"hot"`)
	var c contact
	ada.do(http.MethodPost, contactsPath,
		`{"email":"secretive@acme.example","first_name":"Ada","last_name":"Lovelace","tag":"hot","segment":"q3",`+
			`"attributes":{"size":3}}`, "Idempotency-Key", "k1").want(t, 201, "").into(t, &c)
	ada.do(http.MethodPatch, contactsPath+"/"+c.ID, `{"stage":"sql","tag":["hot","new"]}`).want(t, 200, "")
	folded := ada.contact("secretive.2@acme.example", `,"phone":"12345"`)
	ada.do(http.MethodPost, contactsPath+"/"+c.ID+"/merge", `{"loser_ids":["`+folded.ID+`"]}`).want(t, 200, "")
	survivor := ada.contact("survivor@acme.example")
	ada.do(http.MethodPost, contactsPath+"/"+survivor.ID+"/merge", `{"loser_ids":["`+c.ID+`"]}`).want(t, 200, "")
	var merges struct{ Data []struct{ ID string } }
	ada.do(http.MethodGet, "/api/v1/crm/merges", nil).want(t, 200, "").into(t, &merges)
	ada.do(http.MethodPost, "/api/v1/crm/merges/"+merges.Data[0].ID+"/undo", nil).want(t, 200, "")
	bulk := ada.asked(http.MethodPost, bulkPath,
		`{"filter":{"field":"tag","op":"eq","value":"hot"},"action":{"type":"tag","add":["x"]}}`)
	ada.exec(`UPDATE contact_bulk SET errors = json_build_array(json_build_object('contact_id', $1::text, 'code',
		'x', 'detail', 'x'))::jsonb`, c.ID)
	ada.step(bulk) // fixes the set of contacts
	ada.exec(`INSERT INTO contact_bulk (org_id, id, action, filter, dry_run, status, actor_type, actor_id,
		request_id, created_at, updated_at, completed_at)
		SELECT $1, gen_random_uuid(), '{}', '{"field":"email","op":"eq","value":"Secretive@Acme.example"}', true,
		'completed', '', '', '', now(), now(), now()`, ada.Org)
	ada.do(http.MethodPost, exportsPath,
		`{"format":"csv","filter":{"field":"email","op":"starts_with","value":"secretive@acme.example"}}`).
		want(t, 202, "")
	s.workFiles()
	ada.exec(`INSERT INTO contact_duplicate (org_id, reason, n, contact_ids)
		SELECT org_id, 'email', 0, ARRAY[id, gen_random_uuid()] FROM contact WHERE id = $1`, c.ID)
	sold := ada.deal(`{"name":"Anvils","contact_id":"` + c.ID + `"}`)
	kept := ada.activity(notesPath, `{"body":"about the deal","contact_id":"`+c.ID+`","deal_id":"`+sold.ID+`"}`)
	ada.activity(notesPath, `{"body":"Ada secretive","contact_id":"`+c.ID+`"}`)
	ada.activity(tasksPath, `{"title":"Call secretive","contact_id":"`+c.ID+`"}`)
	ada.email(ada.sandboxMailbox(), c.ID, `,"html":"<p>Dear secretive</p>",`+
		`"attachments":[{"name":"secretive.txt","type":"text/plain","content":"c2VjcmV0aXZl"}]`)
	ada.exec(`INSERT INTO message (org_id, id, mailbox_id, identity, via, received_at, read_at, thread_id, contact_id,
		from_email, from_folded, class) SELECT org_id, $2, mailbox_id, 'x', 'http', now(), now(), thread_id, contact_id,
		'secretive@acme.example', 'secretive@acme.example', 'human' FROM email WHERE contact_id = $1`, c.ID, c.ID)
	ada.exec(`INSERT INTO thread (org_id, id, mailbox_id, contact_id, subject, incoming, unread, last_message_at,
		created_at) SELECT org_id, thread_id, mailbox_id, contact_id, 'secretive', 1, true, now(), now()
		FROM email WHERE contact_id = $1`, c.ID)
	ada.do(http.MethodPost, contactsPath+"/"+c.ID+"/request-consent", nil).want(t, 202, "")
	ada.exec(`DELETE FROM system_mail`)
	ada.exec(`INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state, step, grp, mailbox_id, zone,
			created_at, state_at)
		SELECT org_id, gen_random_uuid(), gen_random_uuid(), 1, id, 'active', 'first', 1, gen_random_uuid(),
			'UTC', now(),
			now() FROM contact WHERE id = $1`, c.ID)
	ada.exec(`INSERT INTO broadcast_recipient (org_id, broadcast_id, contact_id, due_at, created_at)
		SELECT org_id, gen_random_uuid(), contact_id, now(), now() FROM enrolment WHERE org_id = $1`, ada.Org)
	ada.exec(`INSERT INTO enrolment_result (org_id, batch_id, contact_id, reason, created_at)
		SELECT org_id, gen_random_uuid(), id, 'suppressed', now() FROM contact WHERE id = $1`, c.ID)
	ada.exec(`INSERT INTO segment_entry (org_id, id, sequence_id, segment_id, contact_id, due_at, created_at)
		SELECT org_id, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), id, now(), now() FROM contact
		WHERE id = $1`, c.ID)
	ada.exec(`INSERT INTO email_fact (org_id, id, email_id, contact_id, kind, machine, why, at)
		SELECT org_id, gen_random_uuid(), id, contact_id, 'opened', false, '{}', now() FROM email
		WHERE contact_id = $1`, c.ID)
	ada.exec(`INSERT INTO contact_import_effect (org_id, import_id, contact_id, act, was_edit, edit, before)
		SELECT org_id, gen_random_uuid(), id, 'updated', 1, 2, to_jsonb(c) FROM contact c WHERE id = $1`, c.ID)
	ada.exec(`INSERT INTO score_history (org_id, contact_id, recorded_at, score, probability, version)
		SELECT org_id, id, now(), 1, 0.01, 'x' FROM contact WHERE id = $1`, c.ID)

	var held struct {
		Contact contact `json:"contact"`
		Events  []struct {
			Type string
			Data struct{ Object contact }
		} `json:"events"`
		ScoreHistory []any `json:"score_history"`
		Timeline     []any
		Merges       []any
		Deals        []deal
		Notes, Tasks []activity
		Emails       []email
		Messages     []mailShown
		EmailFacts   []any `json:"email_facts"`
	}
	ada.do(http.MethodGet, contactsPath+"/"+c.ID+"/data-export", nil).want(t, 200, "").into(t, &held)
	if held.Contact.Email != "secretive@acme.example" {
		t.Errorf("email %s, want secretive@acme.example", held.Contact.Email)
	}
	if len(held.Events) < 5 || len(held.Timeline) < 5 {
		t.Fatalf("%d events, %d entries of the timeline; want 5 or more of each", len(held.Events), len(held.Timeline))
	}
	if held.Events[0].Type != "contact.created" || held.Events[1].Data.Object.Stage != "sql" {
		t.Errorf("the first event is %s, the second has the stage %s; want contact.created, sql", held.Events[0].Type,
			held.Events[1].Data.Object.Stage)
	}
	type counts struct{ Scores, Merges, Deals, Notes, Tasks, Emails, Messages, Facts int }
	if diff := cmp.Diff(counts{2, 2, 1, 2, 1, 1, 1, 1}, counts{ // scores: the first one and that of the test
		len(held.ScoreHistory), len(held.Merges), len(held.Deals), len(held.Notes), len(held.Tasks), len(held.Emails),
		len(held.Messages), len(held.EmailFacts),
	}); diff != "" {
		t.Errorf("counts (-want +got):\n%s\n%+v", diff, held)
	}
	before := ada.traces(c.ID)
	for table, how := range holding {
		if how == erased && !slices.Contains(before, table) {
			t.Errorf("the test leaves nothing in %s: %v", table, before)
		}
	}

	ada.do(http.MethodPost, contactsPath+"/"+c.ID+"/purge", nil).want(t, 204, "")
	for _, spelt := range []string{"secretive", "Secretive"} {
		if left := strings.Join(ada.traces(spelt), " "); left != "" {
			t.Errorf("the address is left in %s", left)
		}
	}
	for _, gone := range []string{c.ID, folded.ID} { // a merged contact is the same person
		if left := strings.Join(ada.traces(gone), " "); left != "event" {
			t.Errorf("the id is left in %q, want the event that tells of the purge alone", left)
		}
	}
	ada.do(http.MethodPost, contactsPath+"/"+c.ID+"/purge", nil).want(t, 404, "not_found")
	ada.do(http.MethodGet, contactsPath+"/"+c.ID+"/data-export", nil).want(t, 404, "not_found")
	ada.do(http.MethodGet, contactsPath+"/"+other.ID, nil).want(t, 200, "")
	ada.do(http.MethodGet, dealsPath+"/"+sold.ID, nil).want(t, 200, "")
	ada.do(http.MethodGet, notesPath+"/"+kept.ID, nil).want(t, 200, "")
	ada.do(http.MethodGet, contactsPath+"/"+survivor.ID, nil).want(t, 200, "")
	if got := ada.do(http.MethodGet, contactsPath+"?tag=hot", nil); !strings.Contains(string(got.Body), other.ID) ||
		strings.Contains(string(got.Body), c.ID) {
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
	if m.Confidence != "prior" || m.Version != "prior-1" {
		t.Errorf("confidence %s, version %s; want prior, prior-1", m.Confidence, m.Version)
	}
	if m.Metrics == nil {
		t.Error("no metrics")
	}
	if len(m.Features) < 40 {
		t.Fatalf("%d features, want 40 or more", len(m.Features))
	}
	if m.Features[0].Value != "evangelist" {
		t.Errorf("the first feature is %+v, want evangelist", m.Features[0])
	}
}
