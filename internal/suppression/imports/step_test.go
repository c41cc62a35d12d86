package imports_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/suppression/imports"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// desk is an org that imports.
type desk struct {
	*testing.T
	*testkit.Database
	service *suppression.Service
	org     id.ID
}

func open(t *testing.T) *desk {
	t.Helper()
	return &desk{t, testkit.DB(t), &suppression.Service{Box: testkit.Box(t)}, id.New()}
}

func (d *desk) tx(fn func(ctx context.Context, tx *postgres.Tx) error) {
	d.Helper()
	if err := d.App.Tx(d.Context(), d.org, func(tx *postgres.Tx) error { return fn(d.Context(), tx) }); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) queue(file string) (i imports.Import) {
	d.Helper()
	s, err := imports.Stage(d.Context(), d.App, d.org, "user/ada", strings.NewReader(file), sheet.Options{})
	if err != nil {
		d.Fatal(err)
	}
	d.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		i, err = imports.Queue(ctx, tx, s, imports.Choices{Purpose: suppression.All, Reason: suppression.Manual})
		return err
	})
	return i
}

func (d *desk) get(which id.ID) (i imports.Import) {
	d.Helper()
	d.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		i, err = imports.Get(ctx, tx, which)
		return err
	})
	return i
}

func (d *desk) one(sql string) (n int) {
	d.Helper()
	d.tx(func(ctx context.Context, tx *postgres.Tx) error { return tx.QueryRow(ctx, sql, nil, &n) })
	return n
}

// people returns a file of n addresses, of which every tenth is none.
func people(n int) string {
	var b strings.Builder
	b.WriteString("email\n")
	for i := range n {
		if i%10 == 9 {
			b.WriteString("nobody\n")
			continue
		}
		fmt.Fprintf(&b, "p%d@example.com\n", i)
	}
	return b.String()
}

// counts is what an import has come to.
type counts struct {
	Status                          string
	Total, Added, Unchanged, Failed int
}

func countsOf(i imports.Import) counts {
	return counts{i.Status, i.RowsTotal, i.RowsAdded, i.RowsUnchanged, i.RowsFailed}
}

// TestEachStepIsWholeOrUndone rolls every second step back, as a killed worker does, and runs two steps too many.
func TestEachStepIsWholeOrUndone(t *testing.T) {
	t.Parallel()
	d := open(t)
	i := d.queue(people(2500))
	errKilled := errors.New("killed")
	for more, kill := true, true; more; kill = !kill {
		err := d.App.Tx(t.Context(), d.org, func(tx *postgres.Tx) (err error) {
			if more, err = imports.Step(t.Context(), tx, d.service, i.ID); err == nil && kill {
				err = errKilled
			}
			return err
		})
		if kill {
			more = true
		}
		if kill != errors.Is(err, errKilled) {
			t.Fatal(err)
		}
	}
	for range 2 {
		d.tx(func(ctx context.Context, tx *postgres.Tx) error {
			more, err := imports.Step(ctx, tx, d.service, i.ID)
			if more {
				t.Error("the import goes on")
			}
			return err
		})
	}
	got := d.get(i.ID)
	if diff := cmp.Diff(counts{"completed", 2500, 2250, 0, 250}, countsOf(got)); diff != "" {
		t.Errorf("the import (-want +got):\n%s", diff)
	}
	if n := d.one(`SELECT count(DISTINCT hash) FROM suppression`); n != 2250 {
		t.Errorf("%d suppressions", n)
	}
	if n := d.one(`SELECT count(*) FROM suppression_import_block`); n != 0 {
		t.Errorf("%d blocks are left", n)
	}
	lines, next := 0, imports.Failed(&got, d.App, d.org)
	for {
		b, err := next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		lines += strings.Count(string(b), "\n")
	}
	if lines != 251 {
		t.Errorf("%d lines about refused rows, want 251", lines)
	}
}

func TestAnImportThatCannotGoOnKeepsWhatItHasDone(t *testing.T) {
	t.Parallel()
	d := open(t)
	i := d.queue(people(1500))
	d.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := imports.Step(ctx, tx, d.service, i.ID)
		return err
	})
	for range 2 {
		d.tx(func(ctx context.Context, tx *postgres.Tx) error { return imports.Fail(ctx, tx, i.ID) })
	}
	d.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := imports.Step(ctx, tx, d.service, i.ID)
		return err
	})
	got := d.get(i.ID)
	if diff := cmp.Diff(counts{"failed", 1500, 900, 0, 100}, countsOf(got)); diff != "" || got.Error == nil {
		t.Errorf("the import (-want +got):\n%s", diff)
	}
	if n := d.one(`SELECT count(*) FROM suppression_import_block`); n != 0 {
		t.Errorf("%d blocks are left", n)
	}
}
