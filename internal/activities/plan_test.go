package activities_test

import (
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/activities"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// fill inserts $2 notes and tasks in org $1, one in ten archived.
var fill = []string{
	`INSERT INTO note (org_id, id, body, author_id, contact_id, company_id, deal_id, created_at, updated_at,
		archived_at)
	SELECT $1, uuidv7_at(at), 'x', n(g % 7), n(g % 900), n(g % 200), n(g % 500), at, at, CASE
	WHEN g % 10 = 9 THEN at END
	FROM (SELECT g, now() - g * interval '1 minute' AS at FROM generate_series(1, $2::int) g) AS made`,
	`INSERT INTO task (org_id, id, title, status, priority, due_at, assignee_id, contact_id, company_id, deal_id,
		completed_at, created_at, updated_at, archived_at)
	SELECT $1, uuidv7_at(at), 'x', CASE WHEN g % 4 = 0 THEN 'done' ELSE 'open' END, 'normal', CASE
	WHEN g % 3 > 0 THEN at END, n(g % 7), n(g % 900), n(g % 200), n(g % 500),
		CASE WHEN g % 4 = 0 THEN at END, at, at, CASE WHEN g % 10 = 9 THEN at END
	FROM (SELECT g, now() - g * interval '1 minute' AS at FROM generate_series(1, $2::int) g) AS made`,
}

func TestNoListOfNotesOrTasksScansOrSortsAWholeOrg(t *testing.T) {
	t.Parallel()
	db, org := testkit.DB(t), id.New()
	conn := testkit.Pgx(t, db.URL)
	if _, err := conn.Exec(t.Context(),
		`CREATE FUNCTION n(g int) RETURNS uuid LANGUAGE sql AS $$
			SELECT ('00000000-0000-0000-0000-' || lpad(g::text, 12, '0'))::uuid $$`); err != nil {
		t.Fatal(err)
	}
	for i, o := range []id.ID{org, id.New(), id.New()} {
		for _, sql := range fill {
			if _, err := conn.Exec(t.Context(), sql, o, []int{12_000, 300, 300}[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := conn.Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	one, hour := id.ID{15: 2}, time.Now().Add(-time.Hour)
	hold := func(name, order string, from *record.Position, sql string, args []any) {
		if bad := db.Troubles(t, org, record.Planning, sql, args...); len(bad) > 0 {
			t.Errorf("%s by %s (from the middle: %v): %s", name, order, from != nil, strings.Join(bad, ", "))
		}
	}
	places := []*record.Position{nil, {Key: "2026-01-01T00:00:00Z", ID: id.New()}}
	for name, f := range map[string]activities.NoteFilter{
		"all": {}, "archived": {Archived: true}, "contact": {Contact: &one}, "company": {Company: &one},
		"deal": {Deal: &one}, "author": {Author: &one}, "archived contact": {Contact: &one, Archived: true},
	} {
		for _, order := range []string{"-created_at", "created_at"} {
			for _, from := range places {
				sql, args := activities.NoteStatement(org, &f, order, from, 51)
				hold("notes, "+name, order, from, sql, args)
			}
		}
	}
	for name, f := range map[string]activities.TaskFilter{
		"all": {}, "archived": {Archived: true}, "contact": {Contact: &one}, "company": {Company: &one},
		"deal": {Deal: &one}, "assignee": {Assignee: &one}, "open": {Status: "open"}, "done": {Status: "done"},
		"due after": {DueAfter: &hour}, "due before": {DueBefore: &hour},
		"somebody's open": {Assignee: &one, Status: "open"}, "archived deal": {Deal: &one, Archived: true},
	} {
		for _, order := range []string{"-created_at", "created_at", "due_at"} {
			for _, from := range places {
				sql, args := activities.TaskStatement(org, &f, order, from, 51)
				hold("tasks, "+name, order, from, sql, args)
			}
		}
	}
}
