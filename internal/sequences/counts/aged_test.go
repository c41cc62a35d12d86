package counts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// bufferBound is what a read of the counts of all sequences and broadcasts of an org may cost, in buffers.
func bufferBound(sources int) int { return 60 + 40*sources }

// TestCountsOfAnAgedOrgAreRightAndReadNoHistory reads in every state of the statistics.
func TestCountsOfAnAgedOrgAreRightAndReadNoHistory(t *testing.T) {
	aged.SkipShort(t)
	for _, state := range []aged.State{aged.Analyzed, aged.Grew} {
		d := aged.Read(t, aged.Test, state)
		r := aged.Record(t, d)
		for _, class := range []aged.Class{aged.Huge, aged.Grown} {
			a := agedOffice(t, d, class)
			r.Take()
			got := a.read()
			read, worst := aged.Buffers(r.Take())
			t.Logf("%s, %s: %d buffers for %d sources", state, class, read, len(a.sources()))
			if read > bufferBound(len(a.sources())) {
				t.Errorf("%s, %s: %d buffers for %d sources%s", state, class, read, len(a.sources()), worst)
			}
			if diff := cmp.Diff(a.plain(), got); diff != "" {
				t.Errorf("%s, %s: (-want +got):\n%s", state, class, diff)
			}
		}
	}
}

// agedOffice is an org of an aged database.
func agedOffice(t *testing.T, d *aged.Database, class aged.Class) *office {
	t.Helper()
	o := &office{T: t, Database: &d.Database, sql: testkit.Pgx(t, d.URL), org: d.World.Org(class).ID}
	for _, table := range []string{"sequence", "broadcast"} {
		rows, err := o.sql.Query(t.Context(), `SELECT id FROM `+table+` WHERE org_id = $1`, o.org)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var i id.ID
			if err := rows.Scan(&i); err != nil {
				t.Fatal(err)
			}
			o.sequences = append(o.sequences, i)
		}
	}
	last := len(o.sequences) - 1
	o.sequences, o.broadcast = o.sequences[:last], o.sequences[last]
	return o
}

// TestReadsAndFoldsOfCountsCostTheSameWhileAnOldSnapshotKeepsAllDeltas folds a hundred times, as in minutes of sending,
// while nothing that was deleted can be removed.
func TestReadsAndFoldsOfCountsCostTheSameWhileAnOldSnapshotKeepsAllDeltas(t *testing.T) {
	aged.SkipShort(t)
	d := aged.Write(t, aged.Test, aged.Grew)
	o := agedOffice(t, d, aged.Huge)
	r := aged.Record(t, d)
	if _, err := testkit.Pgx(t, d.URL).Exec(t.Context(),
		`BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM org`); err != nil {
		t.Fatal(err)
	}
	cost := func() int {
		r.Take()
		o.check("held")
		read, _ := aged.Buffers(r.Take())
		return read
	}
	o.fold()
	before := cost()
	for range 100 {
		o.tx(func(tx *postgres.Tx) error {
			tx.Queue(`UPDATE enrolment SET state = CASE state WHEN 'active' THEN 'sending' ELSE 'active' END,
					due_at = NULL
				WHERE org_id = $1 AND id IN (SELECT id FROM enrolment WHERE org_id = $1
					AND state IN ('active', 'sending') ORDER BY id LIMIT 100)`, tx.Org())
			return nil
		})
		o.fold()
	}
	after := cost()
	t.Logf("%d buffers before, %d after", before, after)
	if after > before+before/2+100 {
		t.Errorf("a read of the counts cost %d buffers, and %d after 100 folds", before, after)
	}
}
