package enrolments_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// TestATickReadsTheDueGroupsOfItsOrgAlone makes the groups of all orgs due, as in the morning of a day.
func TestATickReadsTheDueGroupsOfItsOrgAlone(t *testing.T) {
	aged.SkipShort(t)
	d := aged.Write(t, aged.Test, aged.Grew)
	conn := testkit.Pgx(t, d.URL)
	for _, class := range []aged.Class{aged.Huge, aged.Grown, aged.Middle, aged.Small, aged.Tiny} {
		org := d.World.Org(class).ID
		read, plan := d.Buffers(t, org, enrolments.Planning, enrolments.GroupsSQL, org, time.Now().AddDate(0, 0, 1),
			enrolments.GroupsAtOnce)
		groups := 0
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM send_group WHERE org_id = $1`, org).Scan(
			&groups); err != nil {
			t.Fatal(err)
		}
		if most := aged.Page(groups); read > most {
			t.Errorf("%s: %d buffers for %d groups, at most %d:\n%s", class, read, groups, most, plan)
		}
	}
}
