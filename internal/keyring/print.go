package keyring

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Print writes the keys of the keyset with the number of ciphertexts of each, then the running processes with their
// keys.
func (r Resealer) Print(ctx context.Context, out io.Writer) error {
	uses, err := r.Uses(ctx)
	if err != nil {
		return err
	}

	ring := r.Box.Ring()
	keys := slices.Clone(ring.Keys)
	for _, u := range uses {
		if !slices.Contains(keys, u.Key) {
			keys = append(keys, u.Key)
		}
	}

	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "KEY\tSTATE\tSEALED\tWHERE")

	for _, key := range keys {
		state := "opens"
		n := int64(0)
		var where []string

		switch {
		case key == ring.Primary:
			state = "seals"
		case !ring.Holds(key):
			state = "missing"
		}

		for _, u := range uses {
			if u.Key == key {
				n += u.Rows
				where = append(where, fmt.Sprintf("%s %d", u.Column, u.Rows))
			}
		}

		fmt.Fprintf(t, "%d\t%s\t%d\t%s\n", key, state, n, strings.Join(where, " "))
	}

	fmt.Fprintln(t, "\nPROCESS\tHOST\tSEALS WITH\tHOLDS")
	err = r.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx,
			`SELECT role, host, primary_key, keys FROM process WHERE seen_at > now() - $1::interval
				ORDER BY role, host, id`, Gone)
		if err != nil {
			return err
		}

		var role, host string
		var primary int64
		var holds []int64
		_, err = pgx.ForEachRow(rows, []any{&role, &host, &primary, &holds}, func() error {
			_, err := fmt.Fprintf(t, "%s\t%s\t%d\t%v\n", role, host, primary, holds)
			return err
		})

		return err
	})
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}

	return t.Flush()
}
