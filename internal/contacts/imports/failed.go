package imports

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Failed returns a function that reads an import's failed rows as CSV, in chunks.
func Failed(i *Import, db *postgres.DB, org id.ID) func(context.Context) ([]byte, error) {
	return tables.Refused(db, org, i.ID, i.source, columnNames(i.columns))
}

// Warnings returns a function that reads an import's warnings as CSV, in chunks.
func Warnings(i *Import, db *postgres.DB, org id.ID) func(context.Context) ([]byte, error) {
	return tables.Warnings(db, org, i.ID)
}
