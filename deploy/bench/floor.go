package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/funnelwork/funnelwork/internal/id"
)

// recipe is a captured group of statements that can be sent again for another org and another contact. Each uuid of the
// captured group is replaced by a new one, and its marker by a new word, wherever they occur. The parameters are split
// beforehand, since a floor slowed by its own work would flatter the service.
type recipe struct {
	sql   []string
	args  [][]arg
	holes []string // the replaced texts: marker, org, then ids
	ids   []id.ID  // regenerated for each send, in the order of holes from firstID
}

// arg is one parameter: the captured value unless pieces or hole are set.
type arg struct {
	fixed  any
	hole   int // hole of a uuid; -1: none
	text   [][]piece
	encode func(texts []string) any
}

// piece is a text followed by a hole, or by none if hole is -1.
type piece struct {
	text string
	hole int
}

const (
	markHole = iota
	orgHole
	firstID
)

// newRecipe decodes the captured parameters into the Go types that the service passes, so that the floor has the same
// encoding costs.
func newRecipe(ctx context.Context, conn *pgx.Conn, group []statement, org id.ID, mark string) (*recipe, error) {
	r := &recipe{holes: []string{mark, org.String()}}
	var values [][]any
	for i, s := range group {
		d, err := conn.Prepare(ctx, fmt.Sprintf("recipe_%s_%d", mark, i), s.sql)
		if err != nil {
			return nil, fmt.Errorf("prepare %s: %w", s.sql, err)
		}
		args := make([]any, len(s.params))
		for j, raw := range s.params {
			if args[j], err = decode(conn.TypeMap(), d.ParamOIDs[j], s.formats, j, raw); err != nil {
				return nil, fmt.Errorf("read parameter %d of %s: %w", j+1, s.sql, err)
			}
			many, _ := args[j].([]id.ID)
			if u, ok := args[j].(id.ID); ok {
				many = []id.ID{u}
			}
			for _, u := range many {
				if u != org && !slices.Contains(r.ids, u) {
					r.ids, r.holes = append(r.ids, u), append(r.holes, u.String())
				}
			}
		}
		r.sql, values = append(r.sql, s.sql), append(values, args)
	}
	for _, args := range values {
		cut := make([]arg, len(args))
		for j, v := range args {
			cut[j] = r.cut(v, org)
		}
		r.args = append(r.args, cut)
	}
	return r, nil
}

func (r *recipe) cut(v any, org id.ID) arg {
	a := arg{fixed: v, hole: -1}
	var texts []string
	switch v := v.(type) {
	case id.ID:
		if a.hole = orgHole; v != org {
			a.hole = firstID + slices.Index(r.ids, v)
		}
		return a
	case string:
		texts, a.encode = []string{v}, func(t []string) any { return t[0] }
	case []byte:
		texts, a.encode = []string{string(v)}, func(t []string) any { return []byte(t[0]) }
	case []id.ID:
		for _, i := range v {
			texts = append(texts, i.String())
		}
		a.encode = func(t []string) any {
			ids := make([]id.ID, len(t))
			for i := range t {
				ids[i], _ = id.Parse(t[i])
			}
			return ids
		}
	case []string:
		texts, a.encode = v, func(t []string) any { return t }
	}
	holes := false
	for _, t := range texts {
		pieces := r.pieces(t)
		holes = holes || len(pieces) > 1
		a.text = append(a.text, pieces)
	}
	if !holes {
		a.text = nil
	}
	return a
}

func (r *recipe) pieces(text string) (out []piece) {
	for {
		at, which := len(text), -1
		for i, h := range r.holes {
			if found := strings.Index(text, h); found >= 0 && found < at {
				at, which = found, i
			}
		}
		out = append(out, piece{text[:at], which})
		if which < 0 {
			return out
		}
		text = text[at+len(r.holes[which]):]
	}
}

// filling is the values of the holes for one send.
type filling struct {
	ids   []id.ID // the org, then the new ids
	texts []string
}

// fill returns a filling. It replaces ids of the captured group that are keys of keep by the values of keep.
func (r *recipe) fill(org id.ID, mark string, keep map[id.ID]id.ID) filling {
	f := filling{ids: []id.ID{org}, texts: []string{mark, org.String()}}
	for _, old := range r.ids {
		i, ok := keep[old]
		if !ok {
			i = id.New()
		}
		f.ids, f.texts = append(f.ids, i), append(f.texts, i.String())
	}
	return f
}

// batch returns the recipe with its holes filled.
func (r *recipe) batch(f filling) *pgx.Batch {
	b := &pgx.Batch{}
	for i, sql := range r.sql {
		args := make([]any, len(r.args[i]))
		for j, a := range r.args[i] {
			switch {
			case a.hole >= 0:
				args[j] = f.ids[a.hole-orgHole]
			case a.text != nil:
				texts := make([]string, len(a.text))
				for k, pieces := range a.text {
					texts[k] = join(pieces, f.texts)
				}
				args[j] = a.encode(texts)
			default:
				args[j] = a.fixed
			}
		}
		b.Queue(sql, args...)
	}
	return b
}

func join(pieces []piece, texts []string) string {
	size := 0
	for _, p := range pieces {
		if size += len(p.text); p.hole >= 0 {
			size += len(texts[p.hole])
		}
	}
	var b strings.Builder
	b.Grow(size)
	for _, p := range pieces {
		if b.WriteString(p.text); p.hole >= 0 {
			b.WriteString(texts[p.hole])
		}
	}
	return b.String()
}

func decode(m *pgtype.Map, oid uint32, formats []int16, at int, raw []byte) (any, error) {
	if raw == nil {
		return nil, nil
	}
	var format int16
	switch {
	case len(formats) == 1:
		format = formats[0]
	case at < len(formats):
		format = formats[at]
	}
	var err error
	scan := func(dst any) { err = m.Scan(oid, format, raw, dst) }
	switch oid {
	case pgtype.UUIDOID:
		var v id.ID
		scan(&v)
		return v, err
	case pgtype.UUIDArrayOID:
		var v []id.ID
		scan(&v)
		return v, err
	case pgtype.TextOID, pgtype.VarcharOID:
		return string(raw), nil
	case pgtype.TextArrayOID:
		var v []string
		scan(&v)
		return v, err
	case pgtype.TimestamptzOID:
		var v time.Time
		scan(&v)
		return v, err
	case pgtype.JSONOID, pgtype.JSONBOID, pgtype.ByteaOID:
		var v []byte
		scan(&v)
		return v, err
	case pgtype.Int4OID, pgtype.Int8OID, pgtype.Int2OID:
		var v int64
		scan(&v)
		return v, err
	case pgtype.Float8OID:
		var v float64
		scan(&v)
		return v, err
	case pgtype.BoolOID:
		var v bool
		scan(&v)
		return v, err
	default:
		return nil, fmt.Errorf("type %d is unknown to the benchmark", oid)
	}
}

// send sends the batch as one implicit transaction and waits for its commit.
func send(ctx context.Context, conn *pgx.Conn, b *pgx.Batch) error {
	br := conn.SendBatch(ctx, b)
	for range b.Len() {
		rows, err := br.Query()
		if err == nil {
			for rows.Next() {
				_ = rows.RawValues()
			}
			rows.Close()
			err = rows.Err()
		}
		if err != nil {
			return errors.Join(err, br.Close())
		}
	}
	return br.Close()
}

// sessions are one connection per worker of a loop.
type sessions []*pgx.Conn

// connect opens n sessions as role, or as the superuser if role is "". They must be closed after their loop: the
// private server allows 100 connections, including the API's pools.
func (w *world) connect(ctx context.Context, n int, role string) (out sessions, err error) {
	cfg, err := pgx.ParseConfig(w.postgres.URL)
	if err != nil {
		return nil, err
	}
	cfg.RuntimeParams["timezone"] = "UTC"
	for range n {
		c, err := pgx.ConnectConfig(ctx, cfg)
		if err != nil {
			out.close(ctx)
			return nil, err
		}
		out = append(out, c)
		if role == "" {
			continue
		}
		if _, err := c.Exec(ctx, "SET ROLE "+role); err != nil {
			out.close(ctx)
			return nil, err
		}
	}
	return out, nil
}

func (ss sessions) close(ctx context.Context) {
	for _, c := range ss {
		_ = c.Close(context.WithoutCancel(ctx))
	}
}
