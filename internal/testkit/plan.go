package testkit

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

type planNode struct {
	Type  string     `json:"Node Type"`
	Table string     `json:"Relation Name"`
	Rows  float64    `json:"Plan Rows"`
	Plans []planNode `json:"Plans"`
}

// sortable is how many rows a plan may sort: a few pages' worth.
const sortable = 4000

func (n *planNode) troubles() (out []string) {
	if n.Type == "Seq Scan" {
		out = append(out, "sequential scan of "+n.Table)
	}
	if n.Type == "Sort" && len(n.Plans) > 0 && n.Plans[0].Rows > sortable {
		out = append(out, fmt.Sprintf("sort of %v rows", n.Plans[0].Rows))
	}
	for i := range n.Plans {
		out = append(out, n.Plans[i].troubles()...)
	}
	return out
}

// Troubles are the scans of a whole table, the sorts of more than a few pages' worth of rows, and the compiling, in the
// plan of a statement as the app role has it under org: a superuser's plans use indexes that row policies bar. settings is a
// statement before it that sets what the planner goes by; "" is none.
func (d *Database) Troubles(t testing.TB, org id.ID, settings, sql string, args ...any) []string {
	t.Helper()
	var (
		raw  string
		plan []struct {
			Plan planNode
			JIT  json.RawMessage
		}
	)
	if err := d.App.View(t.Context(), org, func(tx *postgres.Tx) error {
		if settings != "" {
			tx.Queue(settings)
		}
		return tx.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) "+sql, args, &raw)
	}); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(raw), &plan); err != nil || len(plan) == 0 {
		t.Fatalf("read plan: %v", err)
	}
	found := plan[0].Plan.troubles()
	if plan[0].JIT != nil {
		found = append(found, "compiled by jit")
	}
	return found
}
