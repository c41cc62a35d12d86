package uploads

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// MustReread reports whether a stored file has to be read again with options that were sent behind it. Options that the
// file cannot have are a validation fault.
func (s Source) MustReread(o sheet.Options) (bool, error) {
	encoding, delimiter, err := o.Given()
	if err != nil || s.Fixed {
		return false, err
	}

	wide := strings.HasPrefix(s.Encoding, "utf-16")
	if strings.HasPrefix(encoding, "utf-16") && !wide {
		return false, fault.Invalid("encoding", "invalid_value",
			"The file is not read in this encoding. Send the encoding before the file.")
	}

	return encoding == sheet.Windows1252 && !wide && encoding != s.Encoding ||
		delimiter != "" && delimiter != s.Delimiter, nil
}

// Reread returns a reader of a stored file with the bytes that it had, but for the ends of its lines. The file must not
// be in UTF-16 unless its encoding is not read again.
func (t Tables) Reread(ctx context.Context, db *postgres.DB, org, file id.ID, s Source, blocks int) io.Reader {
	r := &storedFile{source: s, blocks: blocks, read: func(block int) (data []byte, err error) {
		err = db.ReadTx(ctx, org, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx, `SELECT data FROM `+string(t)+`_block
				WHERE org_id = $1 AND import_id = $2 AND block = $3`, []any{org, file, block}, &data)
		})
		return data, err
	}}
	r.buf = append(r.buf, s.Preamble...)
	r.buf = append(r.buf, sheet.Original(s.HeaderText, s.Converted)...)
	r.buf = append(r.buf, '\n')

	return r
}

// storedFile reads the records of a stored file block by block.
type storedFile struct {
	source       Source
	next, blocks int
	read         func(block int) ([]byte, error)
	buf          []byte
}

func (f *storedFile) Read(p []byte) (int, error) {
	for len(f.buf) == 0 {
		if f.next == f.blocks {
			return 0, io.EOF
		}
		data, err := f.read(f.next)
		if err != nil {
			return 0, fmt.Errorf("read block: %w", err)
		}
		all, err := f.source.Records(data, 0)
		if err != nil {
			return 0, err
		}

		f.next++
		for i := range all {
			f.buf = append(f.buf, sheet.Original(all[i].Text, all[i].Converted)...)
			f.buf = append(f.buf, '\n')
		}
	}

	n := copy(p, f.buf)
	f.buf = f.buf[n:]

	return n, nil
}
