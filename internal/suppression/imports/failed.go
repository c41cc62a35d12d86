package imports

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Failed returns a function that reads an import's refused rows as CSV, in chunks.
func Failed(i *Import, db *postgres.DB, org id.ID) func(context.Context) ([]byte, error) {
	names := make([]string, len(i.columns))
	for c := range names {
		names[c] = i.columns[c].Name
	}
	return tables.Refused(db, org, i.ID, i.source, names)
}

// Warnings returns a function that reads an import's warnings as CSV, in chunks.
func Warnings(i *Import, db *postgres.DB, org id.ID) func(context.Context) ([]byte, error) {
	return tables.Warnings(db, org, i.ID)
}
