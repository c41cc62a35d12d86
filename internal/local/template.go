package local

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Template is a cluster that is made and prepared once on this machine, and then copied: a hundred test binaries need
// the same one, and initdb with all migrations costs each of them seconds of processor time.
type Template struct {
	Dir string // keeps the templates; it must exist
	// Key stands for what Prepare does: another key is another template.
	Key string
	// Prepare fills the database at url, and leaves no session behind.
	Prepare func(ctx context.Context, url string) error
}

// keepTemplate is how long a template is kept that no server was started with, if there are few. Of more than
// fewTemplates the older ones are kept for a shorter time: each change of the schema makes new ones.
const (
	keepTemplate = 48 * time.Hour
	fewTemplates = 6
	keepMany     = time.Hour
)

// ensureTemplate returns the directory of the template for servers like o. It is made if it is missing.
func (t *Template) ensureTemplate(ctx context.Context, o PostgresOptions, bin binaries) (string,
	error,
) {
	kept := filepath.Join(t.Dir, "template-"+bin.version+"-"+t.Key)
	lock, err := awaitLock(ctx, filepath.Join(t.Dir, "template.lock"))
	if err != nil {
		return "", err
	}

	defer func() { _ = lock.Close() }()

	now := time.Now()
	if err := os.Chtimes(kept, now, now); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return kept, err
	}

	t.removeOld(now)
	o.Home = ""
	o.Template = nil
	o.Fast = true
	o.TCP = false
	o.clean = true
	p, err := StartPostgres(ctx, o)
	if err != nil {
		return "", err
	}

	if err = t.Prepare(ctx, p.URL); err != nil {
		return "", errors.Join(err, p.Stop(ctx))
	}

	err = p.proc.stopKeeping(ctx)
	if err == nil {
		err = copyTree(filepath.Join(p.proc.cmd.Dir, "data"), kept+".part", nil)
	}
	if err == nil {
		err = os.Rename(kept+".part", kept)
	}

	return kept, errors.Join(err, os.RemoveAll(p.proc.cmd.Dir))
}

// removeOld removes templates that were not used for long.
func (t *Template) removeOld(now time.Time) {
	all, _ := filepath.Glob(filepath.Join(t.Dir, "template-*-*"))
	age := map[string]time.Duration{}
	for _, dir := range all {
		if fi, err := os.Stat(dir); err == nil {
			age[dir] = now.Sub(fi.ModTime())
		}
	}

	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(age[a], age[b]) })
	for n, dir := range all {
		if age[dir] > keepTemplate || n >= fewTemplates && age[dir] > keepMany {
			_ = os.RemoveAll(dir)
		}
	}
}

// copyTree copies a directory of plain files and makes u the owner of the copy.
func copyTree(from, to string, u *owner) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}

	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		target := to + strings.TrimPrefix(path, from)
		if d.IsDir() {
			err = os.Mkdir(target, 0o700) //nolint:gosec // no other user may enter either directory
		} else {
			var b []byte
			if b, err = os.ReadFile(path); err == nil { //nolint:gosec // as above
				err = os.WriteFile(target, b, 0o600) //nolint:gosec // as above
			}
		}

		if err != nil || u == nil {
			return err
		}

		return os.Chown(target, u.uid, u.gid) //nolint:gosec // as above
	})
}
