package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// file is a file of a relation: a segment of at most 1 GB, or a map.
type file struct {
	path  string
	bytes int64
}

// filesOf returns the files of a table, its indexes, and what it stores outside its rows.
func (w *world) filesOf(ctx context.Context, table string) (files []file, err error) {
	rows, _ := w.admin.Query(ctx, `
		WITH tables AS (
			SELECT unnest(ARRAY[oid, reltoastrelid]) AS oid FROM pg_class WHERE oid = $1::text::regclass
		)
		SELECT current_setting('data_directory') || '/' || pg_relation_filepath(oid) FROM (
			SELECT oid FROM tables WHERE oid > 0
			UNION ALL SELECT indexrelid FROM pg_index JOIN tables ON oid = indrelid
		) r`, table)
	relations, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	for _, relation := range relations {
		for _, pattern := range []string{relation, relation + ".*", relation + "_*"} {
			names, err := filepath.Glob(pattern)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				info, err := os.Stat(name)
				if err != nil {
					return nil, err
				}
				files = append(files, file{name, info.Size()})
			}
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no files of %s: %v", table, relations)
	}
	return files, nil
}

// writeLike writes a file for each of files, of the same size, into dir, and syncs it.
func writeLike(ctx context.Context, dir string, files []file) (copies []file, err error) {
	block := make([]byte, 8<<20)
	_, _ = rand.Read(block) // never fails
	for i, f := range files {
		one := file{filepath.Join(dir, strconv.Itoa(i)), f.bytes}
		out, err := os.Create(one.path)
		if err != nil {
			return nil, err
		}
		for left := f.bytes; left > 0 && err == nil; {
			var n int
			n, err = out.Write(block[:min(left, int64(len(block)))])
			left -= int64(n)
			err = errors.Join(err, ctx.Err())
		}
		if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
			return nil, err
		}
		copies = append(copies, one)
	}
	return copies, nil
}

// free removes files as Postgres does after a drop: each is cut to nothing, and then unlinked.
func free(files []file) error {
	for _, f := range files {
		if err := errors.Join(os.Truncate(f.path, 0), os.Remove(f.path)); err != nil {
			return err
		}
	}
	return nil
}

// mountOf returns the line of Linux's mounts for the file system of a path, or "" if it is unknown: with the option
// discard the device is told of every freed block, and the log's syncs wait for that.
func mountOf(path string) (line string) {
	raw, _ := os.ReadFile("/proc/self/mounts")
	longest := 0
	for one := range strings.Lines(string(raw)) {
		fields := strings.Fields(one)
		if len(fields) < 4 || len(fields[1]) < longest {
			continue
		}
		if at := fields[1]; at == "/" || path == at || strings.HasPrefix(path, at+"/") {
			longest, line = len(at), fields[2]+" "+fields[3]
		}
	}
	return line
}
