package wordindex_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/wordindex"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// shop is one org in a database of its own.
type shop struct {
	*testing.T
	*testkit.Database
	org  id.ID
	sql  *pgx.Conn // superuser
	pace wordindex.Pace
}

func open(t *testing.T) *shop {
	t.Helper()
	s := &shop{T: t, Database: testkit.DB(t), org: id.New(), pace: wordindex.Pace{Block: 8, Marks: 4, For: time.Hour}}
	s.sql = testkit.Pgx(t, s.URL)
	s.exec(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, s.org)
	return s
}

func (s *shop) exec(sql string, args ...any) {
	s.Helper()
	if _, err := s.sql.Exec(s.Context(), sql, args...); err != nil {
		s.Fatalf("%s: %v", sql, err)
	}
}

func (s *shop) one(sql string, args ...any) (n int) {
	s.Helper()
	if err := s.sql.QueryRow(s.Context(), sql, args...).Scan(&n); err != nil {
		s.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (s *shop) tx(fn func(ctx context.Context, tx *postgres.Tx) error) {
	s.Helper()
	if err := s.App.Tx(s.Context(), s.org, func(tx *postgres.Tx) error { return fn(s.Context(), tx) }); err != nil {
		s.Fatal(err)
	}
}

func rate(*contacts.Contact) (float64, events.ContactScore) {
	return 10, events.ContactScore{Probability: 0.1, Confidence: "prior", ModelVersion: "test-1"}
}

func person(n int, first string) *contacts.Patch {
	return &contacts.Patch{
		Email:     wire.Some(fmt.Sprintf("p%d@acme.example", n)),
		FirstName: wire.Some(first), LastName: wire.Some("Lovelace"),
	}
}

func (s *shop) create(n int, first string) (i id.ID) {
	s.Helper()
	s.tx(func(_ context.Context, tx *postgres.Tx) error {
		row, err := contacts.Create(tx, person(n, first), rate)
		i = row.ID
		return err
	})
	return i
}

func (s *shop) rename(i id.ID, n int, first string) {
	s.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := contacts.Update(ctx, tx, i, nil, person(n, first), rate)
		return err
	})
}

func (s *shop) sweepOrgs(contacts int) {
	s.Helper()
	if err := wordindex.SweepOrgs(s.Context(), s.System, contacts); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) sync(times int) {
	s.Helper()
	for range times {
		s.tx(func(ctx context.Context, tx *postgres.Tx) error { return wordindex.Sync(ctx, tx, s.pace) })
	}
}

// build runs the job until the index is ready: transactions of other tests' databases hold it up, too.
func (s *shop) build() {
	s.Helper()
	for !s.ready() {
		s.sync(1)
	}
}

func (s *shop) ready() bool {
	s.Helper()
	return s.one(`SELECT count(*) FROM word_index WHERE org_id = $1 AND ready`, s.org) == 1
}

// find returns the candidates for words; nil, false where there are too many marks.
func (s *shop) find(marks int, words ...string) (ids []id.ID, ok bool) {
	s.Helper()
	terms := make([]wordindex.Term, len(words))
	for i, w := range words {
		terms[i].Word = w
	}
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		found, err := wordindex.Find(ctx, tx, terms, wordindex.Limits{Marks: marks, Most: 1000})
		if err != nil || found == nil {
			return err
		}
		ids, ok, err = found.IDs(ctx, tx)
		return err
	})
	return ids, ok
}

func TestABuildWaitsForWritersThatCouldNotSeeTheIndex(t *testing.T) {
	t.Parallel()
	s := open(t)
	for n := range 10 {
		s.create(n, "Ada")
	}
	var late id.ID
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		row, err := contacts.Create(tx, person(100, "Zelda"), rate)
		if err != nil {
			return err
		}
		if late = row.ID; tx.Flush(ctx) != nil {
			return tx.Flush(ctx)
		}
		s.sweepOrgs(10)
		other := *s
		other.sync(4)
		if s.ready() {
			t.Error("the build has ended while a writer without marks was under way")
		}
		if orgs, err := wordindex.Due(ctx, s.System, "key"); err != nil || len(orgs) > 0 {
			t.Errorf("%v are due while there is nothing to do: %v", orgs, err)
		}
		return nil
	})
	if n := s.one(`SELECT count(*) FROM word_index_mark`); n != 0 {
		t.Fatalf("%d marks: the test has no writer without marks", n)
	}
	s.build()
	if !s.ready() {
		t.Error("the index is not ready")
	}
	if ids, ok := s.find(100, "zelda", "lovelace"); !ok || !slices.Contains(ids, late) {
		t.Errorf("found %v, %v; want %s", ids, ok, late)
	}
}

func TestACandidateIsCoveredByItsMarkUntilABlockCoversIt(t *testing.T) {
	t.Parallel()
	s := open(t)
	ada := s.create(0, "Ada")
	for n := range 9 {
		s.create(n+1, "Bob")
	}
	s.sweepOrgs(10)
	s.build()
	if ids, _ := s.find(100, "ada", "lovelace"); !slices.Equal(ids, []id.ID{ada}) {
		t.Errorf("found %v, want %s alone", ids, ada)
	}
	s.rename(ada, 0, "Zoe")
	bob := s.create(20, "Zoe")
	for run := range 3 {
		ids, _ := s.find(100, "zoe", "lovelace")
		if !slices.Contains(ids, ada) || !slices.Contains(ids, bob) || len(ids) > 2 {
			t.Errorf("after %d runs: found %v, want %s and %s", run, ids, ada, bob)
		}
		s.sync(1)
	}
	if n := s.one(`SELECT count(*) FROM word_index_mark`); n != 2 {
		t.Errorf("%d marks, want 2: they are too few for a block", n)
	}
	s.create(21, "Bob")
	s.create(22, "Bob")
	if err := wordindex.SweepMarks(t.Context(), s.System, 4); err != nil {
		t.Fatal(err)
	}
	if orgs, err := wordindex.Due(t.Context(), s.System, "key"); err != nil || len(orgs) != 1 {
		t.Errorf("%v are due: %v", orgs, err)
	}
	s.sync(1)
	if n := s.one(`SELECT count(*) FROM word_index_mark`); n != 0 {
		t.Errorf("%d marks are left", n)
	}
	if orgs, err := wordindex.Due(t.Context(), s.System, "key"); err != nil || len(orgs) != 0 {
		t.Errorf("%v are due: %v", orgs, err)
	}
	if ids, _ := s.find(100, "zoe", "lovelace"); !slices.Equal(ids, []id.ID{ada, bob}) {
		t.Errorf("found %v, want %s and %s", ids, ada, bob)
	}
}

func TestTooManyMarksAreReported(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.create(0, "Ada")
	s.sweepOrgs(1)
	s.build()
	s.create(1, "Ada")
	s.create(2, "Ada")
	if _, ok := s.find(1, "ada", "lovelace"); ok {
		t.Error("found with two marks, of which one is allowed")
	}
	if ids, ok := s.find(2, "ada", "lovelace"); !ok || len(ids) != 3 {
		t.Errorf("found %v", ids)
	}
}

func TestManyChangesEndInANewBuildWithoutTheOldBlocks(t *testing.T) {
	t.Parallel()
	s := open(t)
	var all []id.ID
	for n := range 20 {
		all = append(all, s.create(n, "Ada"))
	}
	s.sweepOrgs(20)
	s.build()
	first := s.one(`SELECT count(*) FROM word_index_page WHERE page = 0`)
	most := 0
	for round := range 12 {
		for n, i := range all {
			s.rename(i, n, fmt.Sprintf("Ada%d", round))
		}
		s.sync(1)
		most = max(most, s.one(`SELECT count(*) FROM word_index_page WHERE page = 0`))
	}
	if first != 3 {
		t.Errorf("%d blocks first, want 3", first)
	}
	if most < 10 {
		t.Errorf("%d blocks at most, want 10 or more", most)
	}
	if n := s.one(`SELECT count(*) FROM word_index_page WHERE page = 0`); n > 2*first+17 {
		t.Errorf("%d blocks in the end, want at most %d", n, 2*first+17)
	}
	if n := s.one(`SELECT first_block FROM word_index`); n == 0 {
		t.Error("nothing was built anew")
	}
	if ids, ok := s.find(100, "ada11", "lovelace"); !ok || !slices.Equal(ids, all) {
		t.Errorf("found %d, want %d", len(ids), len(all))
	}
}

func TestAnErasedContactLeavesNoBitInTheIndex(t *testing.T) {
	t.Parallel()
	s := open(t)
	var all []id.ID
	for n := range 20 {
		all = append(all, s.create(n, "Ada"))
	}
	s.sweepOrgs(20)
	s.build()
	gone := all[13]
	s.exec(`UPDATE contact SET company_id = $2 WHERE id = $1`, gone, id.New())
	for n := range 4 {
		s.exec(`UPDATE contact SET words = words || ' more' || $2::int WHERE id = $1`, gone, n)
	}
	s.sync(1) // a block of the changed contact alone
	s.exec(`UPDATE contact SET company_id = $2 WHERE id = $1`, gone, id.New())
	bits := func() int {
		return s.one(`SELECT COALESCE(sum(bit_count(data)), 0) FROM word_index_page WHERE page < 513`)
	}
	pages, before := s.one(`SELECT count(*) FROM word_index_page`), bits()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error { return contacts.Purge(ctx, tx, gone) })
	if n := s.one(`SELECT count(*) FROM word_index_page WHERE position($1::bytea IN data) > 0`, gone[:]); n != 0 {
		t.Errorf("%d pages hold the id %s", n, hex.EncodeToString(gone[:]))
	}
	if n := s.one(`SELECT count(*) FROM word_index_mark WHERE contact_id = $1`, gone); n != 0 {
		t.Errorf("%d marks are left", n)
	}
	alone := s.one(`SELECT next_block - 1 FROM word_index`)
	if n := s.one(`SELECT COALESCE(sum(bit_count(data)), 0) FROM word_index_page WHERE block = $1`, alone); n != 0 {
		t.Errorf("%d bits are left of the contact in its own block", n)
	}
	if after := bits(); after >= before || s.one(`SELECT count(*) FROM word_index_page`) != pages {
		t.Errorf("%d bits, before %d", after, before)
	}
	want := slices.DeleteFunc(all, func(i id.ID) bool { return i == gone })
	if ids, ok := s.find(100, "ada", "lovelace"); !ok || !slices.Equal(ids, want) {
		t.Errorf("found %v, want %v", ids, want)
	}
}

func TestAnOrgWithoutAnIndexHasNoMarks(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.create(0, "Ada")
	s.sweepOrgs(2)
	s.rename(s.create(1, "Ada"), 1, "Bob")
	s.sync(1)
	if n := s.one(`SELECT (SELECT count(*) FROM word_index) + (SELECT count(*) FROM word_index_mark)
		+ (SELECT count(*) FROM word_index_page)`); n != 0 {
		t.Errorf("%d rows", n)
	}
}

// The app role is what counts: a superuser's plans use indexes that row policies bar.
func TestFindReadsPagesByTheirKey(t *testing.T) {
	t.Parallel()
	s := open(t)
	for n := range 40 {
		s.create(n, "Ada")
	}
	s.sweepOrgs(1)
	s.build()
	s.exec(`ANALYZE word_index_page`)
	var plan string
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		contacts.Planned(tx)
		rows, err := tx.Query(ctx, "EXPLAIN "+wordindex.ReadSQL, s.org, wordindex.Probes("lovelace"), 100)
		if err != nil {
			return err
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		plan = strings.Join(lines, "\n")
		return err
	})
	if strings.Contains(plan, "Seq Scan") || !strings.Contains(plan, "word_index_page_pkey") {
		t.Error(plan)
	}
}

func TestTheSystemRoleReadsNothingOfContactsButTheirOrg(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.create(0, "Ada")
	read := func(column string) error {
		var text string
		return s.System.Tx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT max(`+column+`::text) FROM contact`, nil, &text)
		})
	}
	if err := read("org_id"); err != nil {
		t.Error(err)
	}
	for _, column := range []string{"id", "email", "words"} {
		if err := read(column); postgres.Code(err) != "42501" {
			t.Errorf("%s: %v", column, err)
		}
	}
}
