package contacts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// driven makes the stage of each contact of org $1 follow from its score: customers above, then sql, mql and leads.
const driven = `UPDATE contact c SET stage = CASE WHEN s.score > 60 THEN 'customer' WHEN s.score > 40 THEN 'sql'
	WHEN s.score > 39 THEN 'mql' ELSE 'lead' END FROM contact_score s
	WHERE c.org_id = $1 AND s.org_id = $1 AND s.contact_id = c.id`

// pagedIDs lists a filter page by page.
func (s *shop) pagedIDs(f *contacts.Filter, sort contacts.Sort, limit int) (all []id.ID) {
	s.t.Helper()
	var after *contacts.Position
	for {
		var page []contacts.Row
		if err := s.App.ReadTx(s.t.Context(), s.org, func(tx *postgres.Tx) (err error) {
			page, err = contacts.List(s.t.Context(), tx, f, sort, after, limit)
			return err
		}); err != nil {
			s.t.Fatal(err)
		}
		for i := range page {
			all = append(all, page[i].ID)
		}
		if len(page) < limit {
			return all
		}
		last := sort.Position(&page[limit-1])
		after = &last
	}
}

func TestAListOfStagesByScoreIsTheSameBeforeAndAfterTheirScoresHaveThem(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.fill(s.org, 500)
	super := testkit.Pgx(t, s.URL)
	for _, sql := range []string{driven, "ALTER TABLE contact_score DISABLE TRIGGER USER"} {
		var args []any
		if sql == driven {
			args = []any{s.org}
		}
		if _, err := super.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	lists := map[string]*contacts.Filter{
		"one stage":           {Stages: []string{"lead"}},
		"three, one repeated": {Stages: []string{"mql", "customer", "mql"}},
		"archived":            {Stages: []string{"lead", "sql"}, Archived: true},
		"no such stage":       {Stages: []string{"none"}},
		"by a filter":         {Where: s.where(`{"field":"stage","op":"in","value":["sql","lead"]}`)},
		"with a tag":          {Stages: []string{"lead", "mql"}, Tags: []string{"t3"}},
	}
	sorts := []contacts.Sort{contacts.Highest, contacts.Lowest}
	take := func() map[string][]id.ID {
		out := map[string][]id.ID{}
		for name, f := range lists {
			for _, sort := range sorts {
				out[name+" "+string(sort)] = s.pagedIDs(f, sort, 7)
			}
		}
		return out
	}
	withStages := take()
	if _, err := super.Exec(t.Context(), "UPDATE contact_score SET stage = NULL"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(withStages, take()); diff != "" {
		t.Errorf("without stages (-with +without):\n%s", diff)
	}
	if err := contacts.FillStages(t.Context(), s.System, s.App); err != nil {
		t.Fatal(err)
	}
	var wrong int
	if err := super.QueryRow(t.Context(), `SELECT count(*) FROM contact c JOIN contact_score s
		ON s.org_id = c.org_id AND s.contact_id = c.id WHERE s.stage IS DISTINCT FROM c.stage`).
		Scan(&wrong); err != nil {
		t.Fatal(err)
	}
	if wrong > 0 {
		t.Errorf("%d scores have another stage than their contacts", wrong)
	}
	if diff := cmp.Diff(withStages, take()); diff != "" {
		t.Errorf("filled (-before +after):\n%s", diff)
	}
	if len(withStages["one stage -lead_score"]) < 100 || len(withStages["no such stage lead_score"]) > 0 {
		t.Errorf("%d leads", len(withStages["one stage -lead_score"]))
	}
}

func TestTheBestContactsOfAStageAreReadWithoutThoseOfOtherStages(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.fill(s.org, 20_000)
	super := testkit.Pgx(t, s.URL)
	for _, sql := range []string{driven, "VACUUM ANALYZE"} {
		var args []any
		if sql == driven {
			args = []any{s.org}
		}
		if _, err := super.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	const limit = 51
	for _, sort := range []contacts.Sort{contacts.Highest, contacts.Lowest} {
		for _, stages := range [][]string{{"lead"}, {"mql", "customer"}} {
			sql, args, err := contacts.ByStages(s.org, &contacts.Filter{Stages: stages}, sort, limit, stages...)
			if err != nil {
				t.Fatal(err)
			}
			if read, plan := s.Buffers(t, s.org, contacts.Planning, sql, args...); read > 200+20*limit {
				t.Errorf("%s by %s: %d buffers\n%s", stages, sort, read, plan)
			}
		}
	}
}
