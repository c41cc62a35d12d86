package postgres

import "github.com/jackc/pgx/v5"

// readBatch reads the results of a batch in order and runs their callbacks. It returns the number of results before the
// error.
func readBatch(br pgx.BatchResults, lead int, queued []*pgx.QueuedQuery) (n int, err error) {
	for range lead {
		if _, err := br.Exec(); err != nil {
			return n, err
		}
		n++
	}

	for _, q := range queued {
		if q.Fn != nil {
			err = q.Fn(br)
		} else {
			_, err = br.Exec()
		}
		if err != nil {
			return n, err
		}
		n++
	}

	return n, nil
}

// closeResults closes br. Its error counts only if there was none before, since it repeats that one.
func closeResults(before error, br pgx.BatchResults) error {
	if err := br.Close(); before == nil {
		return err
	}
	return nil
}

// rows closes the batch together with its last result.
type rows struct {
	pgx.Rows
	br  pgx.BatchResults
	end error
}

func (r *rows) Close() {
	r.Rows.Close()
	if r.br != nil {
		r.end = r.br.Close()
		r.br = nil
	}
}

func (r *rows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.end
}

var _ pgx.Rows = (*rows)(nil)
