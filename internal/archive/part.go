package archive

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// part is a stored part of a day.
type part struct {
	Part            int
	Lines, Bytes    int64
	SHA256          []byte
	LastOrg, LastID id.ID
}

func partName(n int) string { return fmt.Sprintf("part-%06d.ndjson.gz", n) }

// readParts returns the recorded parts of a day, in order.
func (d *Days) readParts(ctx context.Context, one day) (parts []part, err error) {
	err = d.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `SELECT part, lines, bytes, sha256, last_org, last_id FROM archive_part
			WHERE name = $1 ORDER BY part`, one.Name)
		if err != nil {
			return err
		}
		parts, err = pgx.CollectRows(rows, pgx.RowToStructByPos[part])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read parts: %w", err)
	}
	return parts, nil
}

// inOrder keeps the planner from reading and sorting a whole day for each part.
const inOrder = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)`

// writePart stores and records the part after the given ones. It returns nil if no row is left.
func (d *Days) writePart(ctx context.Context, one day, before []part) (*part, error) {
	p := part{Part: len(before)}
	if len(before) > 0 {
		last := before[len(before)-1]
		p.LastOrg = last.LastOrg
		p.LastID = last.LastID
	}
	var object bytes.Buffer
	err := d.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(inOrder)
		return d.fillPart(ctx, tx, one, &p, &object)
	})
	if err != nil {
		return nil, fmt.Errorf("read rows: %w", err)
	}
	if p.Lines == 0 {
		return nil, nil //nolint:nilnil // no row is left: there is no such part, and no error
	}

	sum := sha256.Sum256(object.Bytes())
	p.Bytes = int64(object.Len())
	p.SHA256 = sum[:]
	if err := d.Objects.Put(ctx, path.Join(one.Folder, partName(p.Part)), object.Bytes()); err != nil {
		return nil, err
	}

	err = d.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO archive_part (name, part, lines, bytes, sha256, last_org, last_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`, one.Name, p.Part, p.Lines, p.Bytes, p.SHA256,
			p.LastOrg, p.LastID)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("record part: %w", err)
	}

	return &p, nil
}

// pageLines is how many rows are read at a time. A part ends between two pages.
const pageLines = 500

// fillPart writes the rows after p's last one to the object until the part is full, and counts them in p.
func (d *Days) fillPart(ctx context.Context, tx *postgres.Tx, one day, p *part, object io.Writer) error {
	sql := `SELECT org_id, id, row_to_json(t) FROM ` + pgx.Identifier{one.Name}.Sanitize() +
		` AS t WHERE (org_id, id) > ($1, $2) ORDER BY org_id, id LIMIT $3`
	zip := gzip.NewWriter(object)
	most := cmp.Or(d.PartLines, usualLines)
	size := 0
	for left := most; left > 0 && size < usualBytes; left = most - int(p.Lines) {
		rows, err := tx.Query(ctx, sql, p.LastOrg, p.LastID, min(left, pageLines))
		if err != nil {
			return err
		}
		before := p.Lines
		n, err := compressRows(rows, p, zip)
		if err != nil {
			return err
		}
		if p.Lines == before {
			break
		}
		size += n
	}

	return zip.Close()
}

// compressRows writes rows as lines, and returns how many bytes they are.
func compressRows(rows pgx.Rows, p *part, to io.Writer) (size int, err error) {
	defer rows.Close()
	var line bytes.Buffer
	for ; rows.Next(); p.Lines++ {
		var row []byte
		if err := rows.Scan(&p.LastOrg, &p.LastID, &row); err != nil {
			return size, err
		}
		line.Reset()
		if err := json.Compact(&line, row); err != nil { // a column of type json may have line breaks
			return size, fmt.Errorf("row %s: %w", p.LastID, err)
		}
		line.WriteByte('\n')
		size += line.Len()
		if _, err := to.Write(line.Bytes()); err != nil {
			return size, err
		}
	}

	return size, rows.Err()
}

// errDiffers reports an object that is not the one that was stored.
var errDiffers = errors.New("the object in the archive is not what was stored: it is written again")

// verifyParts reads all parts of a day back. Parts from the first wrong one on are forgotten, so that the next run
// writes them again.
func (d *Days) verifyParts(ctx context.Context, one day, parts []part) error {
	for _, p := range parts {
		name := path.Join(one.Folder, partName(p.Part))
		same, err := d.hasObject(ctx, name, &p)
		if err != nil {
			return fmt.Errorf("read back %s: %w", name, err)
		}
		if same {
			continue
		}
		err = d.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			tx.Queue(`DELETE FROM archive_part WHERE name = $1 AND part >= $2`, one.Name, p.Part)
			return nil
		})
		return errors.Join(fmt.Errorf("%s: %w", name, errDiffers), err)
	}

	return nil
}

// hasObject reports whether an object is there, has the recorded bytes, and holds the recorded number of lines.
func (d *Days) hasObject(ctx context.Context, name string, p *part) (bool, error) {
	object, err := d.Objects.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}

	defer func() { _ = object.Close() }()
	body, err := io.ReadAll(io.LimitReader(object, p.Bytes+1))
	if err != nil {
		return false, err
	}
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], p.SHA256) {
		return false, nil
	}

	zip, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return false, err
	}

	lines := int64(0)
	buf := make([]byte, 64<<10)
	for {
		n, err := zip.Read(buf)
		lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
		switch {
		case errors.Is(err, io.EOF):
			return lines == p.Lines, nil
		case err != nil:
			return false, err
		}
	}
}
