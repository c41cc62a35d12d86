package testkit

import (
	"encoding/json"
	"errors"
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

// sortable is the maximum number of rows that a plan may sort: a few pages.
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

// Troubles returns the problems in a statement's plan: scans of a whole table, sorts of more than a few pages of rows,
// and JIT compilation. The plan is that of the app role under org, since a superuser's plan uses indexes that row
// policies prevent. settings is a statement before it that sets planner options; "" is none.
func (d *Database) Troubles(t testing.TB, org id.ID, settings, sql string, args ...any) []string {
	t.Helper()
	var (
		raw  string
		plan []struct {
			Plan planNode
			JIT  json.RawMessage
		}
	)
	if err := d.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
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

// Buffers returns how many buffers a statement reads when it is executed as the app role under org, and its plan. What
// it writes is rolled back. settings is a statement before it that sets planner options; "" is none.
func (d *Database) Buffers(t testing.TB, org id.ID, settings, sql string, args ...any) (read int, plan string) {
	t.Helper()
	undo := errors.New("undo")
	err := d.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		if settings != "" {
			tx.Queue(settings)
		}
		err := tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "+sql, args, &plan)
		return errors.Join(err, undo)
	})
	var explained []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	if plan == "" || json.Unmarshal([]byte(plan), &explained) != nil || len(explained) == 0 {
		t.Fatalf("explain: %v", err)
	}
	return explained[0].Plan.Hit + explained[0].Plan.Read, plan
}
