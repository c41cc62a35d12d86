package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestAWebhookGetsAnotherSecretThatIsShownOnce(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	h := ada.hook(`,"secret":"correct horse battery"`)
	at := hooksPath + "/" + h.ID
	type rotated struct {
		hook
		Until *time.Time `json:"previous_secret_expires_at"`
	}
	rotate := func(body any, headers ...string) (r rotated, got answer) {
		t.Helper()
		got = ada.do(http.MethodPost, at+"/rotate-secret", body, headers...).want(t, 200, "")
		got.into(t, &r)
		return r, got
	}
	made, first := rotate(nil, "Idempotency-Key", "k1")
	if made.Secret == nil || !strings.HasPrefix(*made.Secret, "whsec_") {
		t.Errorf("no secret that begins with whsec_: %s", first.Body)
	}
	if made.Until == nil || made.ID != h.ID {
		t.Errorf("previous_secret_expires_at %v, id %s; want a time, %s", made.Until, made.ID, h.ID)
	}
	if tag := first.Header.Get("ETag"); tag != `"2.0"` {
		t.Errorf("ETag %q, want %q", tag, `"2.0"`)
	}
	if left := time.Until(*made.Until); left > 24*time.Hour || left < 23*time.Hour+50*time.Minute {
		t.Errorf("the overlap is %v", left)
	}
	if _, again := rotate(nil, "Idempotency-Key", "k1"); string(again.Body) != string(first.Body) ||
		again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("a replay: %s", again.Body)
	}
	var stored string
	if err := testkit.Pgx(t, s.DB.URL).QueryRow(t.Context(),
		"SELECT encode(answer, 'escape') FROM idempotency_key WHERE key = 'k1'").Scan(&stored); err != nil ||
		strings.Contains(stored, *made.Secret) {
		t.Errorf("the stored answer shows the secret: %v", err)
	}
	if r, _ := rotate(`{"secret":"another horse battery","overlap_hours":0}`); *r.Secret != "another horse battery" ||
		r.Until != nil {
		t.Errorf("no overlap: %+v", r)
	}
	if r, _ := rotate(`{"overlap_hours":168}`); r.Until == nil || time.Until(*r.Until) < 167*time.Hour {
		t.Errorf("a week: %+v", r)
	}
	rotate(`{"secret":"yet another horse battery"}`)
	for body, field := range map[string]string{
		`{"overlap_hours":169}`:                  "#/overlap_hours out_of_range",
		`{"overlap_hours":-1}`:                   "#/overlap_hours out_of_range",
		`{"overlap_hours":9223372036854775807}`:  "#/overlap_hours out_of_range",
		`{"secret":""}`:                          "#/secret invalid_length",
		`{"secret":"short"}`:                     "#/secret invalid_length",
		`{"secret":"whsec_0123456789abcdefghi"}`: "#/secret invalid_format",
		`{"secret":"yet another horse battery"}`: "#/secret unchanged",
		`{"overlap":1}`:                          "#/overlap unknown_field",
	} {
		if got := ada.do(http.MethodPost, at+"/rotate-secret", body).
			want(t, 422, "validation_failed"); got.field() != field {
			t.Errorf("%s: %s, want %s", body, got.field(), field)
		}
	}
	if read := ada.do(http.MethodGet, at, nil).want(t, 200, ""); strings.Contains(string(read.Body), "secret") {
		t.Errorf("a secret is shown again: %s", read.Body)
	}
	ada.as(auth.Member).do(http.MethodPost, at+"/rotate-secret", nil).want(t, 403, "forbidden")
	ada.do(http.MethodDelete, at, nil).want(t, 204, "")
	ada.do(http.MethodPost, at+"/rotate-secret", nil).want(t, 404, "not_found")
	var log struct {
		Data []struct {
			Action string
			Detail map[string]any
		}
	}
	ada.do(http.MethodGet, "/api/v1/audit-log", nil).want(t, 200, "").into(t, &log)
	var overlaps []any
	for _, a := range log.Data {
		if a.Action == "webhook.secret_rotated" {
			overlaps = append(overlaps, a.Detail["overlap_hours"])
		}
	}
	if fmt.Sprint(overlaps) != "[24 168 0 24]" {
		t.Errorf("the log has rotations with overlaps %v", overlaps)
	}
}

// sent is a delivery in a response.
type sent struct {
	ID, Status, Trigger string
	EventID             string  `json:"event_id"`
	EventType           string  `json:"event_type"`
	WebhookID           string  `json:"webhook_id"`
	ReplayID            *string `json:"replay_id"`
}

func (c *caller) deliveries(hook, query string) []sent {
	c.Helper()
	var page struct{ Data []sent }
	c.do(http.MethodGet, hooksPath+"/"+hook+"/deliveries"+query, nil).want(c, 200, "").into(c, &page)
	return page.Data
}

func TestADeliveryIsSentAgainWhateverBecameOfIt(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	h := ada.hook("")
	ada.contact("ada@example.com")
	first := ada.deliveries(h.ID, "")[0]
	conn := testkit.Pgx(t, s.DB.URL)
	for _, status := range []string{"pending", "delivered", "failed", "exhausted", "discarded"} {
		if _, err := conn.Exec(t.Context(), "UPDATE webhook_delivery SET status = $2 WHERE id = $1", first.ID,
			status); err != nil {
			t.Fatal(err)
		}
		got := ada.do(http.MethodPost, "/api/v1/webhook-deliveries/"+first.ID+"/redeliver", nil).want(t, 202, "")
		var d sent
		got.into(t, &d)
		want := d
		want.EventID, want.EventType, want.WebhookID = first.EventID, "contact.created", h.ID
		want.Trigger, want.Status = "redelivery", "pending"
		if diff := cmp.Diff(want, d); diff != "" {
			t.Errorf("%s (-want +got):\n%s", status, diff)
		}
		if d.ID == first.ID {
			t.Errorf("%s: the new delivery has the id of the first", status)
		}
		if at := got.Header.Get("Location"); at != "/api/v1/webhook-deliveries/"+d.ID {
			t.Errorf("%s: Location %q of %s", status, at, d.ID)
		}
		ada.do(http.MethodGet, got.Header.Get("Location"), nil).want(t, 200, "")
		var jobs int
		if err := conn.QueryRow(t.Context(),
			"SELECT count(*) FROM job WHERE id = $1 AND kind = 'webhook.deliver' AND lane = 'webhooks' AND "+
				"max_attempts = 10 AND wake_at IS NOT NULL", d.ID).Scan(&jobs); err != nil || jobs != 1 {
			t.Errorf("%s: %d jobs, %v", status, jobs, err)
		}
	}
	again := "/api/v1/webhook-deliveries/" + first.ID + "/redeliver"
	ada.as(auth.Member).do(http.MethodPost, again, nil).want(t, 403, "forbidden")
	ada.do(http.MethodPatch, hooksPath+"/"+h.ID, `{"enabled":false}`).want(t, 200, "")
	ada.do(http.MethodPost, again, nil).want(t, 202, "")
	if _, err := conn.Exec(t.Context(), "DELETE FROM event"); err != nil {
		t.Fatal(err)
	}
	ada.do(http.MethodPost, again, nil).want(t, 409, "conflict")
	ada.do(http.MethodDelete, hooksPath+"/"+h.ID, nil).want(t, 204, "")
	ada.do(http.MethodPost, again, nil).want(t, 409, "conflict")
	ada.do(http.MethodPost, "/api/v1/webhook-deliveries/"+id.New().String()+"/redeliver", nil).want(t, 404, "not_found")
}

type replay struct {
	ID           *string
	Status       string
	Count, Sent  int
	Types        []string
	From, To     time.Time
	Deliveries   map[string]int
	OnlyFailed   bool `json:"only_failed"`
	CreatedAt    time.Time
	CompletedAt  *time.Time `json:"completed_at"`
	WebhookID    string     `json:"webhook_id"`
	headerOfMade string
}

func (c *caller) replay(hook string, body map[string]any) (r replay) {
	c.Helper()
	got := c.do(http.MethodPost, hooksPath+"/"+hook+"/replay", body).want(c, 202, "")
	got.into(c, &r)
	r.headerOfMade = got.Header.Get("Location")
	return r
}

func TestAReplayIsCountedBeforeItIsMade(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada, bob := s.signup(), s.signup()
	h := ada.hook(`,"description":"x"`)
	before := time.Now().Add(-time.Second)
	for n := range 3 {
		c := ada.contact(fmt.Sprintf("ada%d@example.com", n))
		ada.do(http.MethodPatch, contactsPath+"/"+c.ID, `{"stage":"sql"}`).want(t, 200, "")
		bob.contact("bob" + c.Email)
	}
	hour := map[string]any{"from": before, "to": time.Now().Add(time.Hour)}
	with := func(more ...any) map[string]any {
		m := map[string]any{"from": hour["from"], "to": hour["to"]}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1] //nolint:forcetypeassert // names
		}
		return m
	}
	for _, c := range []struct {
		body map[string]any
		want int
	}{
		{with("dry_run", true), 6},
		{with("dry_run", true, "types", []string{"contact.updated"}), 3},
		{with("dry_run", true, "types", []string{"contact.updated", "contact.created", "deal.won"}), 6},
		{with("dry_run", true, "only_failed", true), 0},
	} {
		r := ada.replay(h.ID, c.body)
		type facts struct {
			ID, Location, Status string
			Count, Sent          int
		}
		got := facts{Location: r.headerOfMade, Status: r.Status, Count: r.Count, Sent: r.Sent}
		if r.ID != nil {
			got.ID = *r.ID
		}
		if diff := cmp.Diff(facts{Status: "preview", Count: c.want}, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.body, diff)
		}
	}
	conn := testkit.Pgx(t, s.DB.URL)
	// One of two failed events was delivered by a later delivery.
	if _, err := conn.Exec(t.Context(),
		"UPDATE webhook_delivery SET status = CASE event_type WHEN 'contact.updated' THEN 'exhausted' ELSE "+
			"'delivered' END"); err != nil {
		t.Fatal(err)
	}
	var d sent
	ada.do(http.MethodPost,
		"/api/v1/webhook-deliveries/"+ada.deliveries(h.ID, "?status=exhausted")[0].ID+"/redeliver", nil).
		want(t, 202, "").into(t, &d)
	if _, err := conn.Exec(t.Context(), "UPDATE webhook_delivery SET status = 'delivered' WHERE id = $1",
		d.ID); err != nil {
		t.Fatal(err)
	}
	if r := ada.replay(h.ID, with("dry_run", true, "only_failed", true)); r.Count != 2 {
		t.Errorf("%+v, want 2 failed", r)
	}
	made := ada.replay(h.ID, hour)
	if made.ID == nil {
		t.Fatalf("no id: %+v", made)
	}
	type facts struct {
		Status, Location, Type string
		Count                  int
	}
	if diff := cmp.Diff(facts{"queued", hooksPath + "/" + h.ID + "/replays/" + *made.ID, "*", 6},
		facts{made.Status, made.headerOfMade, made.Types[0], made.Count}); diff != "" {
		t.Errorf("the replay (-want +got):\n%s", diff)
	}
	if made.To.After(time.Now()) {
		t.Errorf("the replay goes on until %v", made.To)
	}
	var read replay
	ada.as(auth.Viewer).do(http.MethodGet, made.headerOfMade, nil).want(t, 200, "").into(t, &read)
	type shown struct {
		ID, Status, Webhook string
		Count, Statuses     int
	}
	if diff := cmp.Diff(shown{*made.ID, "queued", h.ID, 6, 5},
		shown{*read.ID, read.Status, read.WebhookID, read.Count, len(read.Deliveries)}); diff != "" {
		t.Errorf("the replay as it is read (-want +got):\n%s", diff)
	}
	var jobs int
	if err := conn.QueryRow(t.Context(),
		"SELECT count(*) FROM job WHERE kind = 'webhook.replay' AND lane = 'bulk' AND args->>'replay' = $1", *made.ID).
		Scan(&jobs); err != nil || jobs != 1 {
		t.Errorf("%d jobs, %v", jobs, err)
	}
	for name, c := range map[string]struct {
		body  any
		field string
	}{
		"behind what is kept": {with("from", time.Now().AddDate(0, 0, -31)), "#/from out_of_range"},
		"in the future":       {with("from", time.Now().Add(time.Hour)), "#/from out_of_range"},
		"backwards":           {with("to", before.Add(-time.Hour)), "#/to out_of_range"},
		"of no type": {
			with("types", []string{"contact.created", "contact.deleted"}),
			"#/types/1 unknown_event_type",
		},
		"without an end": {map[string]any{"from": before}, "#/to required"},
		"of no time":     {with("from", "yesterday"), "#/from invalid_format"},
	} {
		if got := ada.do(http.MethodPost, hooksPath+"/"+h.ID+"/replay", c.body).
			want(t, 422, "validation_failed"); got.field() != c.field {
			t.Errorf("%s: %s, want %s", name, got.field(), c.field)
		}
	}
	ada.as(auth.Member).do(http.MethodPost, hooksPath+"/"+h.ID+"/replay", hour).want(t, 403, "forbidden")
	ada.do(http.MethodGet, hooksPath+"/"+ada.hook("").ID+"/replays/"+*made.ID, nil).want(t, 404, "not_found")
	ada.do(http.MethodDelete, hooksPath+"/"+h.ID, nil).want(t, 204, "")
	ada.do(http.MethodPost, hooksPath+"/"+h.ID+"/replay", hour).want(t, 409, "conflict")
}

func TestDeliveriesAreFilteredByTypeAndTime(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	h := ada.hook("")
	for _, kind := range []string{"deal.won", "deal.lost", "deal.won"} {
		ada.do(http.MethodPost, hooksPath+"/"+h.ID+"/test", `{"type":"`+kind+`"}`).want(t, 202, "")
	}
	conn := testkit.Pgx(t, s.DB.URL)
	for _, sql := range []string{
		`UPDATE webhook_delivery SET created_at = created_at - interval '2 days',
		id = overlay(uuidv7_at(now() - interval '2 days')::text PLACING substr(id::text, 15) FROM 15)::uuid
		WHERE event_type = 'deal.lost'`,
		`UPDATE job SET id = d.id FROM webhook_delivery d WHERE substr(d.id::text, 15) = substr(job.id::text, 15)`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	for query, want := range map[string]int{
		"":                                   3,
		"?event_type=deal.won":               2,
		"?event_type=deal.won&status=failed": 0,
		"?event_type=deal.lost":              1,
		"?created_after=" + at(-time.Hour):   2,
		"?created_before=" + at(-time.Hour):  1,
		"?created_before=" + at(time.Hour) + "&created_after=" + at(-72*time.Hour) +
			"&event_type=deal.lost&status=pending": 1,
		"?created_before=" + at(-72*time.Hour): 0,
	} {
		if got := ada.deliveries(h.ID, query); len(got) != want {
			t.Errorf("%s: %d, want %d", query, len(got), want)
		}
	}
	var page struct{ Total *int }
	ada.do(http.MethodGet, hooksPath+"/"+h.ID+"/deliveries?event_type=deal.won&count=exact", nil).want(t, 200, "").
		into(t, &page)
	if page.Total == nil || *page.Total != 2 {
		t.Errorf("total %v", page.Total)
	}
	ada.do(http.MethodGet, hooksPath+"/"+h.ID+"/deliveries?event_type=deal.wonn", nil).want(t, 400, "invalid_parameter")
	ada.do(http.MethodGet, hooksPath+"/"+h.ID+"/deliveries?created_after=soon", nil).want(t, 400, "invalid_parameter")
}

func TestFiftyPostsAtOnceWithOneKeyAreOneEvent(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	h := ada.hook("")
	var wait sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for range 50 {
		wait.Go(func() {
			got := ada.do(http.MethodPost, contactsPath,
				`{"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace"}`, "Idempotency-Key", "one")
			if got.Status != 201 && got.code() != "idempotency_in_flight" {
				t.Errorf("%d %s", got.Status, got.Body)
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[got.Status]++
		})
	}
	wait.Wait()
	if n := s.count("event WHERE org_id = $1", ada.Org); n != 1 {
		t.Errorf("%d events, want 1", n)
	}
	if n := len(ada.deliveries(h.ID, "")); n != 1 {
		t.Errorf("%d deliveries, want 1", n)
	}
	if statuses[201] == 0 || statuses[201]+statuses[409] != 50 {
		t.Errorf("statuses %v, want 201 once or more and 409 for the rest", statuses)
	}
}
