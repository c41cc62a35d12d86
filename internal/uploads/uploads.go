// Package uploads keeps the records of an uploaded file in blocks of a table until a job has imported them, and returns
// the rows that the import refused as a file.
//
// A kind of import has four tables with the same columns: NAME with one row for each import, NAME_block with its
// blocks, NAME_error with its refused rows, and NAME_warning with what was left out of its other rows.
package uploads

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// Tables is the NAME of a kind of import, a constant of the program.
type Tables string

// A block ends at 1,000 records or at this size.
const (
	blockRows  = 1000
	blockBytes = 4 << 20
)

// Source is how a file was read. The zero value is that of an import whose blocks have the former form.
type Source struct {
	Encoding   string                `json:"encoding,omitempty"`
	Delimiter  string                `json:"delimiter,omitempty"`
	HeaderRow  int                   `json:"header_row,omitempty"`
	HeaderText string                `json:"header_text,omitempty"`
	Converted  bool                  `json:"converted,omitempty"` // the header was read as Windows-1252
	LeftOut    []sheet.OmittedColumn `json:"left_out,omitempty"`
	Refused    bool                  `json:"refused,omitempty"` // the file is one of refused rows

	Preamble []byte `json:"-"` // the lines above the header, as they were sent
	Fixed    bool   `json:"-"` // the file is no CSV, so that neither encoding nor delimiter can be given
}

// SourceOf returns how in reads its file.
func SourceOf(in *sheet.Reader) Source {
	return Source{
		Encoding: in.Encoding, Delimiter: in.Delimiter, HeaderRow: in.HeaderRow, HeaderText: in.HeaderText,
		Converted: in.HeaderConverted, LeftOut: in.LeftOut, Refused: in.Refused, Preamble: in.Preamble, Fixed: in.Fixed,
	}
}

// Records decodes a block of the file. first is the row of its first record in a file that was stored in the former
// form, which did not keep it.
func (s Source) Records(data []byte, first int) ([]sheet.Record, error) {
	if s.Delimiter == "" {
		return sheet.FormerRecords(data, first)
	}
	return sheet.Records(data, s.Delimiter)
}

// Stored is what Store has written.
type Stored struct{ Blocks, Rows int }

// Store writes the records below the header of a file. It holds one block in memory for a file of any size. see, if
// not nil, is called with every record that is not blank and has no defect. A file that cannot be read is a validation
// fault.
func (t Tables) Store(ctx context.Context, db *postgres.DB, org, file id.ID, in *sheet.Reader,
	see func(*sheet.Record),
) (s Stored, err error) {
	var data []byte
	inBlock := 0
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s, sheet.Unreadable(err)
		}

		data = sheet.AppendRecord(data, &rec, in.Delimiter)
		s.Rows++
		if rec.Defect == "" && !rec.Blank && see != nil {
			see(&rec)
		}
		if inBlock++; inBlock == blockRows || len(data) >= blockBytes {
			if err := t.insertBlock(ctx, db, org, file, s.Blocks, data); err != nil {
				return s, err
			}
			s.Blocks++
			data = data[:0]
			inBlock = 0
		}
	}

	if inBlock == 0 {
		return s, nil
	}

	err = t.insertBlock(ctx, db, org, file, s.Blocks, data)
	s.Blocks++

	return s, err
}

func (t Tables) insertBlock(ctx context.Context, db *postgres.DB, org, file id.ID, block int, data []byte) error {
	err := db.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO `+string(t)+`_block (org_id, import_id, block, data) VALUES ($1, $2, $3, $4)`, org, file,
			block, data)
		return nil
	})
	if err != nil {
		return fmt.Errorf("store block: %w", err)
	}

	return nil
}

// Drop deletes a file that no import has begun to read. It uses its own timeout, because the caller's context may be
// done. If it fails, retention deletes the file.
func (t Tables) Drop(ctx context.Context, db *postgres.DB, org, file id.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()

	_ = db.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(`DELETE FROM `+string(t)+`_block WHERE org_id = $1 AND import_id = $2
			AND EXISTS (SELECT FROM `+string(t)+` WHERE org_id = $1 AND id = $2 AND status = 'uploading')`, org, file)
		tx.Queue(`DELETE FROM `+string(t)+` WHERE org_id = $1 AND id = $2 AND status = 'uploading'`, org, file)
		return nil
	})
}
