package stripe_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

// TestBothStoresKeepAndFindTheSame runs one script on both stores; each step states its expected result.
func TestBothStoresKeepAndFindTheSame(t *testing.T) {
	t.Parallel()
	for name, make := range stores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := make(t)
			ctx := t.Context()
			change := func(fn func(stripe.Tx) error) {
				t.Helper()
				if err := s.Update(ctx, fn); err != nil {
					t.Fatal(err)
				}
			}
			row := func(account, id string, created int64, due int64, marks ...string) *stripe.Row {
				r := &stripe.Row{
					Account: account, Kind: "thing", ID: id, Created: created, Marks: marks,
					Body: []byte(`{"id":"` + id + `"}`), Due: due,
				}
				if due != 0 {
					r.Timer = "clock"
				}
				return r
			}
			change(func(tx stripe.Tx) error {
				for i := range 6 {
					if err := tx.Put(ctx,
						row("", fmt.Sprintf("t%d", i), int64(100+i), int64(50-i), "all=1", fmt.Sprintf("odd=%d", i%2),
							fmt.Sprintf("n=%d", i))); err != nil {
						return err
					}
				}
				return tx.Put(ctx, row("acct_1", "t0", 100, 0, "all=1"))
			})
			undone := errors.New("undone")
			err := s.Update(ctx, func(tx stripe.Tx) error {
				r, err := tx.Get(ctx, "", "thing", "t1")
				if err != nil {
					return err
				}
				r.Marks, r.Due = []string{"gone=1"}, 1
				if err := errors.Join(tx.Put(ctx, r), tx.Put(ctx, row("", "t9", 1, 1, "all=1")),
					tx.Delete(ctx, "", "thing", "t2")); err != nil {
					return err
				}
				if got := found(ctx, t, tx, stripe.Query{All: []string{"all=1"}}); got != "t9 t5 t4 t3 t0" {
					t.Errorf("within the work: %s", got)
				}
				return undone
			})
			if !errors.Is(err, undone) {
				t.Fatal(err)
			}
			var seq int64
			change(func(tx stripe.Tx) error {
				r, err := tx.Get(ctx, "", "thing", "t3")
				seq = r.Seq
				none, errNone := tx.Get(ctx, "", "thing", "t9")
				if none != nil {
					t.Errorf("%+v, want none", none)
				}
				if string(r.Body) != `{"id":"t3"}` || r.Created != 103 {
					t.Errorf("%s created at %d, want t3 created at 103", r.Body, r.Created)
				}
				return errors.Join(err, errNone)
			})
			change(func(tx stripe.Tx) error {
				for _, c := range []struct {
					q    stripe.Query
					want string
				}{
					{stripe.Query{}, "t5 t4 t3 t2 t1 t0"},
					{stripe.Query{Account: "acct_1"}, "t0"},
					{stripe.Query{Anywhere: true, All: []string{"all=1"}}, "t0 t5 t4 t3 t2 t1 t0"},
					{stripe.Query{All: []string{"odd=1"}}, "t5 t3 t1"},
					{stripe.Query{All: []string{"all=1", "odd=0"}, Limit: 2}, "t4 t2"},
					{stripe.Query{Any: []string{"n=1", "n=4", "n=7"}}, "t4 t1"},
					{stripe.Query{All: []string{"odd=1"}, Any: []string{"n=1", "n=4"}}, "t1"},
					{stripe.Query{Before: seq}, "t2 t1 t0"},
					{stripe.Query{After: seq}, "t4 t5"},
					{stripe.Query{After: seq, Limit: 1}, "t4"},
					{stripe.Query{Since: 102, Until: 104}, "t4 t3 t2"},
					{stripe.Query{All: []string{"none=1"}}, ""},
				} {
					if got := found(ctx, t, tx, c.q); got != c.want {
						t.Errorf("%+v: %q, want %q", c.q, got, c.want)
					}
				}
				if got := due(ctx, t, tx, 48, 10); got != "t5 t4 t3 t2" {
					t.Errorf("due: %s", got)
				}
				if got := due(ctx, t, tx, 48, 2); got != "t5 t4" {
					t.Errorf("due: %s", got)
				}
				r, err := tx.Get(ctx, "", "thing", "t5")
				if err != nil {
					return err
				}
				r.Due, r.Marks = 49, []string{"new=1"}
				if err := errors.Join(tx.Put(ctx, r), tx.Delete(ctx, "", "thing", "t4")); err != nil {
					return err
				}
				if got := due(ctx, t, tx, 49, 10); got != "t3 t2 t5 t1" && got != "t3 t2 t1 t5" {
					t.Errorf("due: %s", got)
				}
				if got := found(ctx, t, tx, stripe.Query{All: []string{"all=1"}}) + "/" + found(ctx, t, tx,
					stripe.Query{All: []string{"new=1"}}); got != "t3 t2 t1 t0/t5" {
					t.Errorf("after a change of marks: %s", got)
				}
				return nil
			})
		})
	}
}

func found(ctx context.Context, t *testing.T, tx stripe.Tx, q stripe.Query) string {
	t.Helper()
	q.Kind = "thing"
	return names(must(tx.Find(ctx, q))(t))
}

func due(ctx context.Context, t *testing.T, tx stripe.Tx, by int64, limit int) string {
	t.Helper()
	return names(must(tx.Due(ctx, "clock", by, limit))(t))
}

func names(rows []*stripe.Row) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.ID)
	}
	return strings.Join(all, " ")
}

// TestNoMoneyIsAFloat scans the sources that count money; unlike the lint rule, it also finds constants. Tests may use
// floats, since stripe-go has some, and so may lines with a nolint comment that states what they count.
func TestNoMoneyIsAFloat(t *testing.T) {
	t.Parallel()
	if got := floats(t, "x.go",
		"package x\nvar a = 1.5\ntype b struct{ c []float64 }\nfunc d() { _ = float32(1) }"); len(got) != 3 {
		t.Fatalf("the reader finds %v", got)
	}
	read := 0
	for _, dir := range []string{".", "../../billing"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			source, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			read++
			for _, at := range floats(t, f, string(source)) {
				t.Errorf("%s: money is counted in int64", at)
			}
		}
	}
	if read < 20 {
		t.Errorf("only %d files were read", read)
	}
}

// floats returns the places where a source names a floating point type, has a floating point constant, or calls a
// function that returns one.
func floats(t *testing.T, name, source string) (at []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(source, "\n")
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil || strings.Contains(lines[set.Position(n.Pos()).Line-1], "//nolint:forbidigo // ") {
			return true
		}
		switch n := n.(type) {
		case *ast.Ident:
			if slices.Contains([]string{"float32", "float64", "complex64", "complex128", "ParseFloat"}, n.Name) {
				at = append(at, set.Position(n.Pos()).String())
			}
		case *ast.BasicLit:
			if n.Kind == token.FLOAT {
				at = append(at, set.Position(n.Pos()).String())
			}
		}
		return true
	})
	return at
}
