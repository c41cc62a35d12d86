package mailboxsweep_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/mailboxsweep"
)

func TestASweepEndsHoldsAndCountsTheHealthOfEveryOrg(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := sql.Exec(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	state := func(box id.ID) (s string) {
		t.Helper()
		if err := sql.QueryRow(t.Context(), `SELECT concat_ws(' ', status, nullif(status_reason, ''), health_bounced)
			FROM mailbox WHERE id = $1`, box).Scan(&s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	boxes := map[string]id.ID{}
	for name, held := range map[string]string{
		"over": `now() - interval '1 s'`, "for an hour": `now() + interval '1 hour'`, "for good": `NULL`,
	} {
		org := id.New()
		boxes[name] = id.New()
		exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, org)
		exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, status_reason,
			held_until, created_at, updated_at) VALUES ($1, $2, 'Box', 'smtp', 'a@b.example', 'a@b.example',
			'b.example', 'held', 'held_by_user', `+held+`, now(), now())`, org, boxes[name])
		exec(`INSERT INTO email (org_id, id, mailbox_id, thread_id, purpose, subject, to_email, to_domain, message_id,
				message_hash, status, due_at, marked_at, bounced, created_at, updated_at)
			SELECT $1, g, $2, g, 'personal', 'x', 'x@x.example', 'x.example', g::text, uuid_send(g), 'sent', now(),
				now() - interval '1 hour', 'hard', now(), now() FROM (SELECT gen_random_uuid() AS g) x`, org,
			boxes[name])
	}
	sweep := func() {
		t.Helper()
		run := &queue.Run[mailboxsweep.Args]{Claimed: &queue.Claimed{ID: id.New()}}
		if err := (mailboxsweep.Job{App: db.App, System: db.System}).Work(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	for name, want := range map[string]string{
		"over": "active 1", "for an hour": "held held_by_user 1", "for good": "held held_by_user 1",
	} {
		if got := state(boxes[name]); got != want {
			t.Errorf("held %s: %s, want %s", name, got, want)
		}
	}
	exec(`UPDATE mailbox SET health_bounced = 7`)
	if sweep(); state(boxes["over"]) != "active 7" {
		t.Error("the health is counted again at once")
	}
	exec(`UPDATE mailbox SET health_at = now() - interval '16 minutes'`)
	if sweep(); state(boxes["over"]) != "active 1" {
		t.Error("the health is not counted again")
	}
}

func TestASweepCountsOnlyMailboxesWhoseHealthCanChange(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	org := id.New()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := sql.Exec(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, org)
	const count = `UPDATE mailbox SET health_sent = 99, health_bounced = $1, health_at = $2`
	box, email := id.New(), id.New()
	exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, created_at,
		updated_at) VALUES ($1, $2, 'Box', 'smtp', 'a@b.example', 'a@b.example', 'b.example', 'active', now(), now())`,
		org, box)
	exec(`INSERT INTO email (org_id, id, mailbox_id, thread_id, purpose, subject, to_email, to_domain, message_id,
			message_hash, status, due_at, marked_at, created_at, updated_at)
		VALUES ($1, $2, $3, $2, 'personal', 'x', 'x@x.example', 'x.example', 'x', 'x', 'sent', now(),
			now() - interval '30 days', now(), now())`, org, email, box)
	ago := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name    string
		marked  time.Time
		bounced int
		at      *time.Time
		counts  bool
	}{
		{"never counted", ago.AddDate(0, 0, -30), 0, nil, true},
		{"no mail for a month", ago.AddDate(0, 0, -30), 0, &ago, false},
		{"a mail of yesterday", ago.AddDate(0, 0, -1), 0, &ago, true},
		{"no mail for a month, and a bounce", ago.AddDate(0, 0, -30), 1, &ago, true},
	} {
		exec(`UPDATE email SET marked_at = $1`, c.marked)
		exec(count, c.bounced, c.at)
		run := &queue.Run[mailboxsweep.Args]{Claimed: &queue.Claimed{ID: id.New()}}
		if err := (mailboxsweep.Job{App: db.App, System: db.System}).Work(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		var sent int
		var at time.Time
		if err := sql.QueryRow(t.Context(), `SELECT health_sent, health_at FROM mailbox`).Scan(&sent, &at); err != nil {
			t.Fatal(err)
		}
		if counted := sent != 99; counted != c.counts {
			t.Errorf("%s: counted is %v", c.name, counted)
		}
		if !at.After(ago) {
			t.Errorf("%s: the mailbox is not claimed", c.name)
		}
	}
}

func TestASweepAddsOneJobForEachInboxThatIsDue(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := sql.Exec(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	for name, c := range map[string]struct{ due, archived string }{
		"due": {`now() - interval '1 s'`, `NULL`}, "later": {`now() + interval '30 s'`, `NULL`},
		"due, too": {`now()`, `NULL`}, "archived": {`now() - interval '1 day'`, `now()`},
	} {
		org, box := id.New(), id.New()
		exec(`INSERT INTO org (id, name) VALUES ($1, $2)`, org, name)
		exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, created_at,
			updated_at, archived_at) VALUES ($1, $2, $3, 'smtp', 'a@b.example', 'a@b.example', 'b.example', 'disabled',
			now(), now(), `+c.archived+`)`, org, box, name)
		exec(`INSERT INTO mailbox_folder (org_id, mailbox_id, folder, next_sync_at)
			VALUES ($1, $2, 'INBOX', `+c.due+`)`, org, box)
	}
	sweep := func() (jobs int) {
		t.Helper()
		run := &queue.Run[mailboxsweep.Args]{Claimed: &queue.Claimed{ID: id.New()}}
		if err := (mailboxsweep.Job{App: db.App, System: db.System}).Work(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		if err := sql.QueryRow(t.Context(), `SELECT count(*) FROM job j JOIN mailbox m ON m.org_id = j.org_id
			AND m.id = (j.args->>'mailbox')::uuid WHERE j.kind = 'mailbox.sync' AND m.name LIKE 'due%'
			AND j.line <> m.id`).Scan(&jobs); err != nil {
			t.Fatal(err)
		}
		return jobs
	}
	if n := sweep(); n != 2 {
		t.Errorf("%d jobs, want 2", n)
	}
	exec(`UPDATE mailbox_folder SET next_sync_at = now() WHERE next_sync_at < now() + interval '2 min'`)
	if n := sweep(); n != 2 {
		t.Errorf("%d jobs while the first are open, want 2", n)
	}
	var all int
	err := sql.QueryRow(t.Context(), `SELECT count(*) FROM job WHERE kind = 'mailbox.sync'`).Scan(&all)
	if err != nil || all != 3 {
		t.Errorf("%d jobs, %v: want those of the live mailboxes", all, err)
	}
}
