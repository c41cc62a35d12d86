package imports

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// Limits of gatherRepeated, which holds 16 bytes for each row of the file, and the rows that it moves.
const (
	maxGatheredFile = 4_000_000
	maxGatheredRows = 100_000
	gatheredBlock   = 1000 // rows of a block, unless one contact has more
)

// keyPlace is the hash of a row's key and a block that has such rows.
type keyPlace struct {
	hash  uint64
	block int
}

// gatherRepeated moves rows about one contact that are in several blocks into blocks of their own, at the end of the
// file and in its order. Together they change the contact once: block by block, a file in which an earlier row differs
// from a later one would change it again at each import.
func (i *Import) gatherRepeated(ctx context.Context, tx *postgres.Tx) error {
	if i.blocks < 2 || i.RowsTotal > maxGatheredFile || i.source.Delimiter == "" {
		return nil
	}

	g := &gatherer{Import: i, seed: maphash.MakeSeed()}
	if err := g.findRepeated(ctx, tx); err != nil || len(g.repeated) == 0 {
		return err
	}
	return g.moveRows(ctx, tx)
}

// gatherer finds and moves the rows of an import.
type gatherer struct {
	*Import
	seed     maphash.Seed
	repeated map[uint64]int // index into groups, by hash
	touched  []int          // blocks that have such rows
	groups   [][]sheet.Record
}

// hashOf returns the hash of the key of a row, and false if it has none.
func (g *gatherer) hashOf(r *sheet.Record) (uint64, bool) {
	if r.Blank || r.Defect != "" {
		return 0, false
	}
	key := ""
	outer := ""
	for c := range g.columns {
		field := g.columns[c].Field
		if field == nil || *field != "id" && *field != "email" && !isExternal(*field) {
			continue
		}
		cell := strings.TrimSpace(sheet.Text(r.Cell(c)))
		switch {
		case cell == "":
		case *field == "id":
			return maphash.String(g.seed, "id "+strings.ToLower(cell)), true
		case *field == "email":
			key = compare.Address(cell)
		case outer == "":
			outer = *field + " " + cell
		}
	}
	if outer != "" {
		key = outer
	}
	return maphash.String(g.seed, key), key != ""
}

// findRepeated finds the keys that several blocks have.
func (g *gatherer) findRepeated(ctx context.Context, tx *postgres.Tx) error {
	var all []keyPlace
	for block := range g.blocks {
		records, err := g.recordsOf(ctx, tx, block)
		if err != nil {
			return err
		}
		seen := make(map[uint64]bool, len(records))
		for n := range records {
			if hash, is := g.hashOf(&records[n]); is && !seen[hash] {
				seen[hash] = true
				all = append(all, keyPlace{hash, block})
			}
		}
	}
	slices.SortFunc(all, func(x, y keyPlace) int {
		return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.block, y.block))
	})

	g.repeated = map[uint64]int{}
	blocks := map[int]bool{}
	moved := 0
	for len(all) > 0 && moved < maxGatheredRows {
		n := 1
		for n < len(all) && all[n].hash == all[0].hash {
			n++
		}
		if n > 1 {
			g.repeated[all[0].hash] = -1
			for _, p := range all[:n] {
				blocks[p.block] = true
			}
			moved += n
		}
		all = all[n:]
	}
	for block := range blocks {
		g.touched = append(g.touched, block)
	}
	slices.Sort(g.touched)

	return nil
}

// moveRows takes the rows with these keys out of their blocks and appends blocks with them.
func (g *gatherer) moveRows(ctx context.Context, tx *postgres.Tx) error {
	for _, block := range g.touched {
		records, err := g.recordsOf(ctx, tx, block)
		if err != nil {
			return err
		}
		kept := []byte{}
		for n := range records {
			hash, is := g.hashOf(&records[n])
			at, moves := g.repeated[hash]
			if !is || !moves {
				kept = sheet.AppendRecord(kept, &records[n], g.source.Delimiter)
				continue
			}
			if at < 0 {
				at = len(g.groups)
				g.repeated[hash] = at
				g.groups = append(g.groups, nil)
			}
			g.groups[at] = append(g.groups[at], records[n])
		}
		tx.Queue(`UPDATE contact_import_block SET data = $4 WHERE org_id = $1 AND import_id = $2 AND block = $3`,
			tx.Org(), g.ID, block, kept)
	}

	data := []byte{}
	inBlock := 0
	flush := func() {
		tx.Queue(`INSERT INTO contact_import_block (org_id, import_id, block, data) VALUES ($1, $2, $3, $4)`, tx.Org(),
			g.ID, g.blocks, slices.Clone(data))
		g.blocks++
		data = data[:0]
		inBlock = 0
	}
	for _, group := range g.groups {
		if inBlock > 0 && inBlock+len(group) > gatheredBlock {
			flush()
		}
		for n := range group {
			data = sheet.AppendRecord(data, &group[n], g.source.Delimiter)
			if inBlock++; inBlock == gatheredBlock {
				flush()
			}
		}
	}
	if inBlock > 0 {
		flush()
	}

	return tx.Flush(ctx)
}

// recordsOf returns the records of a block.
func (i *Import) recordsOf(ctx context.Context, tx *postgres.Tx, block int) ([]sheet.Record, error) {
	var data []byte
	if err := tx.QueryRow(ctx,
		`SELECT data FROM contact_import_block WHERE org_id = $1 AND import_id = $2 AND block = $3`,
		[]any{tx.Org(), i.ID, block}, &data); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	// the row of the first record of a file that was stored without the numbers of its rows
	first := i.RowsCreated + i.RowsUpdated + i.RowsUnchanged + i.RowsFailed + i.RowsBlank + i.RowsRepeated + 2
	return i.source.Records(data, first)
}
