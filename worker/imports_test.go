package worker_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/contactimport"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
	"github.com/funnelwork/funnelwork/worker"
)

const importing = "worker of imports"

// importers returns the handlers of an import as a worker has them.
func importers(job contactimport.Job) []queue.Handler {
	job.Plans = entitlementsync.Standard()
	job.Model = func(context.Context, *postgres.Tx) (*scoring.Model, error) { return scoring.Shipped(), nil }
	return []queue.Handler{job.Handler()}
}

// TestAnImportWhoseWorkerIsKilledWorksEachRowOnce kills a worker in the middle of a step. Another worker completes the
// import.
func TestAnImportWhoseWorkerIsKilledWorksEachRowOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.exec(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, h.org)
	const rows = 6000
	var file strings.Builder
	file.WriteString("email,first_name,last_name,tag,attributes.size\n")
	for n := range rows {
		fmt.Fprintf(&file, "p%d@example.test,First%d,Last%d,a;b,%d\n", n, n, n, n)
	}
	var i imports.Import
	staged, err := imports.Stage(t.Context(), h.db.App, h.org, strings.NewReader(file.String()), sheet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h.add(func(ctx context.Context, tx *postgres.Tx) error {
		if i, err = imports.Queue(ctx, tx, staged, imports.Choices{}); err != nil {
			return err
		}
		return contactimport.Kind.Add(ctx, tx, contactimport.Args{Import: i.ID})
	})
	p := h.process(importing)
	h.until(giveUpAfter, "blocks are worked", func() bool {
		return h.count(`SELECT next_block FROM contact_import`) >= 2
	})
	// In the middle of the next step, while its transaction holds the import's row.
	h.until(giveUpAfter, "a step is under way", func() bool {
		return h.count(
			`SELECT count(*) FROM pg_locks WHERE relation = 'contact_import'::regclass AND mode = 'RowShareLock'
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) > 0
	})
	if err := p.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	stop := h.work(worker.Options{}, importers(contactimport.Job{Log: testkit.Log(t)})...)
	h.until(giveUpAfter, "the import is over", func() bool {
		return h.count(`SELECT count(*) FROM contact_import WHERE status = 'completed'`) == 1
	})
	stop()
	for what, sql := range map[string]string{
		"contacts":  `SELECT count(*) FROM contact`,
		"addresses": `SELECT count(DISTINCT email_folded) FROM contact`,
		"events":    `SELECT count(*) FROM event WHERE type = 'contact.created'`,
		"contacts with them": `SELECT count(DISTINCT data -> 'object' ->> 'id') FROM event
			WHERE type = 'contact.created'`,
		"counted":         `SELECT rows_created FROM contact_import`,
		"effects":         `SELECT count(*) FROM contact_import_effect WHERE act = 'created'`,
		"recorded scores": `SELECT count(*) FROM contact_score WHERE first_version IS NULL`,
	} {
		if n := h.count(sql); n != rows {
			t.Errorf("%d %s, want %d", n, what, rows)
		}
	}
	if n := h.count(`SELECT rows_repeated + rows_updated + rows_unchanged + rows_failed FROM contact_import`) +
		h.count(`SELECT count(*) FROM contact_import_block`); n != 0 {
		t.Errorf("%d rows were worked twice, failed or are left", n)
	}
}
