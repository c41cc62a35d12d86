package contacts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// fillSQL inserts $2 contacts of an org in bulk, as Create would. From a thousand on, the planner's statistics are
// updated.
var fillSQL = []string{
	`INSERT INTO segment (org_id, id, key, name, kind, created_at)
		SELECT $1, gen_random_uuid(), 'seg' || g, 'seg', 'static', now() FROM generate_series(0, 20) g WHERE $2 > 0`,
	`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, company_id,
		owner_id, stage, tags, created_at, updated_at, archived_at)
	SELECT $1, uuidv7_at(at), 'p' || g || '@acme' || g % 50 || '.example', 'p' || g || '@acme' || g % 50 ||
	'.example', 'First' || g % 300, 'Last' || g % 1000, 'last' || g % 1000,
		CASE WHEN g % 3 = 0 THEN ('00000000-0000-0000-0000-' || lpad((g % 200)::text, 12, '0'))::uuid END,
		CASE WHEN g % 2 = 0 THEN ('00000000-0000-0000-0000-' || lpad((g % 7)::text, 12, '0'))::uuid END,
		(ARRAY['lead', 'lead', 'lead', 'mql', 'sql', 'customer'])[1 + g % 6], ARRAY['t' || g % 10, 'rare' || g %
		1000], at, at, CASE WHEN g % 10 = 9 THEN at END
	FROM (SELECT g, now() - g * interval '1 minute' AS at FROM generate_series(1, $2::int) g) AS made`,
	`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, archived,
		segments, scored_at)
	SELECT org_id, id, s, s / 100, 'x', 'prior', s, archived_at IS NOT NULL, '{}', now()
	FROM (SELECT *, round((random() * 100)::numeric, 2)::float8 AS s FROM contact WHERE org_id = $1 AND $2 > 0) c`,
	`INSERT INTO contact_tag (org_id, tag, archived, created_at, contact_id)
		SELECT org_id, t, archived_at IS NOT NULL, created_at, id FROM contact, unnest(tags) t WHERE org_id = $1
		AND $2 > 0`,
	`INSERT INTO segment_member (org_id, segment_id, archived, created_at, contact_id)
		SELECT c.org_id, s.id, c.archived_at IS NOT NULL, c.created_at, c.id
	FROM contact c JOIN segment s ON s.org_id = $1 AND s.key = 'seg' || length(c.first_name) +
	ascii(right(c.email_folded, 12)) % 20 WHERE c.org_id = $1 AND $2 > 0`,
	`INSERT INTO contact_word (org_id, word, contact_id) SELECT DISTINCT org_id, w, id
		FROM contact, regexp_split_to_table(email_folded || ' ' || lower(first_name) || ' ' || last_name_folded,
		'[^a-z0-9]+') w
	WHERE org_id = $1 AND $2 > 0 AND w <> ''`,
	`UPDATE contact c SET first_name_folded = lower(first_name), words = w.words
	FROM (SELECT contact_id, string_agg(' ' || word, '') AS words FROM contact_word WHERE org_id = $1
	GROUP BY contact_id) w WHERE c.org_id = $1 AND c.id = w.contact_id AND $2 > 0`,
	`INSERT INTO contact_field (org_id, key, label, type, created_at, updated_at) SELECT $1, k, k, t, now(), now()
		FROM (VALUES ('plan', 'string'), ('size', 'number'), ('vip', 'boolean'), ('since', 'date')) f (k, t)
		WHERE $2 > 0`,
	`INSERT INTO contact_attribute (org_id, contact_id, key, archived, text, number, flag, created_at)
	SELECT c.org_id, c.id, k, c.archived_at IS NOT NULL, CASE k
	WHEN 'plan' THEN (ARRAY['free', 'pro', 'free'])[1 + g % 3]
	WHEN 'since' THEN '2026-01-' || lpad((1 + g % 28)::text, 2, '0') END,
		CASE k WHEN 'size' THEN g % 1000 END, CASE k WHEN 'vip' THEN g % 100 = 0 END, c.created_at
	FROM (SELECT *, ascii(right(email_folded, 9)) * 31 + length(email_folded) + (extract(epoch
	FROM created_at) / 60)::int AS g FROM contact WHERE org_id = $1
	AND $2 > 0) c, unnest(ARRAY['plan', 'size', 'vip', 'since']) k WHERE (g + length(k)) % 3 > 0`,
}

func (s *shop) fill(org id.ID, n int) {
	s.t.Helper()
	conn := testkit.Pgx(s.t, s.URL)
	for _, sql := range fillSQL {
		if _, err := conn.Exec(s.t.Context(), sql, org, n); err != nil {
			s.t.Fatalf("%v\n%s", err, sql)
		}
		if n < 1000 {
			continue
		}
		// Also between the statements: one with statistics of the time before the rows can take minutes.
		if _, err := conn.Exec(s.t.Context(), `ANALYZE`); err != nil {
			s.t.Fatal(err)
		}
	}
}

// others creates n more orgs with the given number of contacts each.
func (s *shop) others(n, contacts int) {
	s.t.Helper()
	for range n {
		org := id.New()
		s.newOrg(org)
		s.fill(org, contacts)
	}
}

type node struct {
	Type  string  `json:"Node Type"`
	Table string  `json:"Relation Name"`
	Index string  `json:"Index Name"`
	Rows  float64 `json:"Plan Rows"`
	Plans []node  `json:"Plans"`
}

// troubles returns scans of a whole table and sorts of more than a few pages of rows.
func (n *node) troubles(maySort bool) (out []string) {
	if n.Type == "Seq Scan" && n.Table != "segment" {
		out = append(out, "sequential scan of "+n.Table)
	}
	if n.Type == "Sort" && !maySort && len(n.Plans) > 0 && n.Plans[0].Rows > 4000 {
		out = append(out, fmt.Sprintf("sort of %v rows", n.Plans[0].Rows))
	}
	for i := range n.Plans {
		out = append(out, n.Plans[i].troubles(maySort)...)
	}
	return out
}

// The test runs as the app role: plans of a superuser use indexes that row-level security rules out.
func TestNoListScansOrSortsAWholeOrg(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("plans are the same under the race detector")
	}
	s := open(t)
	s.others(10, 500)
	s.fill(s.org, 30_000)
	company, owner := mustID(t, "00000000-0000-0000-0000-000000000003"),
		mustID(t, "00000000-0000-0000-0000-000000000002")
	hour, low, high := time.Now().Add(-time.Hour), 10.0, 99.5
	filters := map[string]contacts.Filter{
		"all": {}, "archived": {Archived: true}, "stage": {Stages: []string{"sql"}},
		"common stage": {Stages: []string{"lead"}}, "stages": {Stages: []string{"sql", "mql"}},
		"no such stage": {Stages: []string{"x"}},
		"tag":           {Tags: []string{"t3"}}, "rare tag": {Tags: []string{"rare77"}},
		"no such tag": {Tags: []string{"x"}}, "tags": {Tags: []string{"t3", "t4"}},
		"rare tags": {Tags: []string{"rare77", "rare78"}},
		"segment":   {Segments: []string{"seg7"}}, "segments": {Segments: []string{"seg7", "seg8"}},
		"no such segment": {Segments: []string{"x"}},
		"word":            {Words: []string{"last77"}}, "common word": {Words: []string{"acme"}},
		"words": {Words: []string{"first1", "last77"}}, "no such word": {Words: []string{"zzz"}},
		"company": {Company: &company}, "owner": {Owner: &owner}, "min score": {MinScore: &low},
		"high score": {MinScore: &high}, "after": {CreatedAfter: &hour}, "before": {CreatedBefore: &hour},
		"stage and tag":     {Stages: []string{"sql"}, Tags: []string{"t3"}},
		"tag and score":     {Tags: []string{"t3"}, MinScore: &high},
		"company and stage": {Company: &company, Stages: []string{"lead"}},
		"archived tag":      {Tags: []string{"t9"}, Archived: true},
	}
	for name, leaf := range map[string]string{
		"email": `"op":"starts_with","value":"p1"`, "first_name": `"op":"eq","value":"first7"`,
		"last_name": `"op":"in","value":["last7","last8"]`, "phone": `"op":"eq","value":"+49 7"`,
		"job_title": `"op":"eq","value":"vp7"`,
		"source":    `"op":"starts_with","value":"s"`, "time_zone": `"op":"eq","value":"utc"`,
		"company_id": `"op":"eq","value":"00000000-0000-0000-0000-000000000003"`,
		"owner_id":   `"op":"exists","value":true`,
		"stage":      `"op":"eq","value":"sql"`, "tag": `"op":"eq","value":"rare77"`,
		"segment": `"op":"eq","value":"seg7"`, "lead_score": `"op":"gte","value":99.5`,
		"created_at": `"op":"lt","value":"2000-01-01T00:00:00Z"`,
		"updated_at": `"op":"gte","value":"2100-01-01T00:00:00Z"`, "attributes.plan": `"op":"eq","value":"pro"`,
		"attributes.size": `"op":"gte","value":999`, "attributes.vip": `"op":"eq","value":true`,
		"attributes.since": `"op":"eq","value":"2026-01-01"`,
	} {
		filters["where "+name] = contacts.Filter{Where: s.where(`{"field":"` + name + `",` + leaf + `}`)}
	}
	for name, raw := range map[string]string{
		"where stage and tag": `{"all":[{"field":"stage","op":"eq","value":"sql"},{"field":"tag","op":"eq",` +
			`"value":"t3"}]}`,
		"where attribute and stage": `{"all":[{"field":"attributes.plan","op":"eq","value":"pro"},{"field":"stage",` +
			`"op":"eq","value":"sql"}]}`,
		"where tag and score": `{"all":[{"field":"tag","op":"eq","value":"t3"},{"field":"lead_score","op":"gte",` +
			`"value":99.5}]}`,
		"where company and stage": `{"all":[{"field":"company_id","op":"eq",` +
			`"value":"00000000-0000-0000-0000-000000000003"},{"field":"stage","op":"eq","value":"lead"}]}`,
		"where rare tags": `{"field":"tag","op":"in","value":["rare77","rare78"]}`,
		"where not":       `{"not":{"field":"stage","op":"eq","value":"lead"}}`,
		"where contains":  `{"field":"email","op":"contains","value":"7@acme"}`,
	} {
		filters[name] = contacts.Filter{Where: s.where(raw)}
	}
	some := s.list(contacts.Filter{}, contacts.Newest)[700]
	for name, f := range filters {
		for _, order := range []contacts.Sort{
			contacts.Newest, contacts.Oldest, contacts.Highest, contacts.Lowest,
			contacts.LastName, contacts.Email,
		} {
			if len(f.Words) > 0 {
				statements, args, err := contacts.Ways(s.org, &f, order, []id.ID{company}, 51)
				if err != nil {
					t.Fatal(err)
				}
				for way := range statements {
					if bad := s.troubles(statements[way], args[way], way < 3); len(bad) > 0 {
						t.Errorf("%s by %s, way %d: %s", name, order, way, strings.Join(bad, ", "))
					}
				}
				continue
			}
			mid := order.Position(&some)
			for _, from := range []*contacts.Position{nil, &mid} {
				statements, args, err := contacts.PageWays(s.org, &f, order, from, 51, 102)
				if err != nil {
					t.Fatal(err)
				}
				for way := range statements {
					if bad := s.troubles(statements[way], args[way], way > 0); len(bad) > 0 {
						t.Errorf("%s by %s, way %d (from the middle: %v): %s", name, order, way, from != nil,
							strings.Join(bad, ", "))
					}
				}
			}
		}
	}
}

// troubles returns the troubles of the app role's plan for a list.
func (s *shop) troubles(sql string, args []any, maySort bool) []string {
	s.t.Helper()
	var raw string
	var plan []struct{ Plan node }
	s.view(func(ctx context.Context, tx *postgres.Tx) error {
		contacts.Planned(tx)
		return tx.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+sql, args, &raw)
	})
	if err := json.Unmarshal([]byte(raw), &plan); err != nil {
		s.t.Fatal(err)
	}
	return plan[0].Plan.troubles(maySort)
}

// where parses a filter over the org's contacts.
func (s *shop) where(raw string) (f *filter.Filter) {
	s.t.Helper()
	s.view(func(ctx context.Context, tx *postgres.Tx) (err error) {
		f, err = contacts.ParseFilter(ctx, tx, []byte(raw))
		return err
	})
	return f
}

func mustID(t *testing.T, text string) id.ID {
	t.Helper()
	i, err := id.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestAnEstimateIsExactWhileSmallAndNearWhenLarge(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.fill(s.org, 6000)
	for _, c := range []struct {
		f           contacts.Filter
		least, most int64
	}{
		{contacts.Filter{}, 4500, 6500},
		{contacts.Filter{Tags: []string{"t3"}}, 600, 600},
		{contacts.Filter{Words: []string{"last77"}}, 60, 70},
		{contacts.Filter{Stages: []string{"x"}}, 0, 0},
	} {
		var exact, near int64
		if err := s.App.ReadTx(t.Context(), s.org, func(tx *postgres.Tx) (err error) {
			if exact, err = contacts.Count(t.Context(), tx, &c.f); err != nil {
				return err
			}
			near, err = contacts.Estimate(t.Context(), tx, &c.f)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if near < c.least || near > c.most {
			t.Errorf("%+v: estimated %d, want %d to %d", c.f, near, c.least, c.most)
		}
		if exact < c.least || exact > c.most {
			t.Errorf("%+v: exactly %d, want %d to %d", c.f, exact, c.least, c.most)
		}
		if exact <= 1000 && near != exact {
			t.Errorf("%+v: estimated %d, want exactly %d", c.f, near, exact)
		}
	}
}
