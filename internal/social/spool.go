package social

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Spool keeps answers of providers on this machine's disk between the moment they came and the commit that stores them: of a
// refresh token that is good for one use the answer is the only copy. A file holds tokens as the row would, sealed and
// bound to their grant, and the whole of it is sealed once more. A nil *Spool keeps nothing.
type Spool struct {
	dir string
	box *secret.Box
}

// OpenSpool makes the directory where there is none, readable by its owner alone, and sees that it can be written to.
func OpenSpool(dir string, box *secret.Box) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	s := &Spool{dir: dir, box: box}
	name, err := s.write(".probe", nil)
	if err == nil {
		err = os.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process that shares the directory has removed it
		return nil, fmt.Errorf("open spool: %w", err)
	}
	return s, nil
}

const spooled = ".answer"

// nameOf begins with the grant, so that its answers are found.
func nameOf(org, grant id.ID) string { return org.String() + "_" + grant.String() + "_" }

func spoolAbout(name string) string { return "social_spool|" + name }

// keep writes the answer to the disk and answers its file; "" where that failed, which is told and no reason to lose the
// answer: it is stored all the same.
func (s *Spool) keep(ctx context.Context, n answer, log *slog.Logger) string {
	if s == nil {
		return ""
	}
	name := nameOf(n.Org, n.Grant) + id.New().String() + spooled
	plain, err := json.Marshal(n)
	var sealed []byte
	if err == nil {
		sealed, err = s.box.Seal(plain, spoolAbout(name))
	}
	if err == nil {
		name, err = s.write(name, sealed)
	}
	if err != nil {
		log.ErrorContext(ctx, "new tokens are not spooled", "grant_id", n.Grant.String(), "error", err)
		return ""
	}
	return name
}

// write puts a file in its place in one step, and returns when the disk has it.
func (s *Spool) write(name string, body []byte) (path string, err error) {
	f, err := os.CreateTemp(s.dir, ".new-*") // mode 0600
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(body)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	path = filepath.Join(s.dir, name)
	if err = os.Rename(f.Name(), path); err != nil {
		return "", err
	}
	d, err := os.Open(s.dir)
	if err != nil {
		return "", err
	}
	return path, errors.Join(d.Sync(), d.Close())
}

// drop forgets a file whose answer is stored, or worth nothing any more.
func (s *Spool) drop(path string) {
	if s != nil && path != "" {
		_ = os.Remove(path)
	}
}

// answers lists the files whose names begin so, of the oldest first.
func (s *Spool) answers(prefix string) ([]string, error) {
	if s == nil {
		return nil, nil
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("read spool: %w", err)
	}
	var out []string
	for _, e := range entries { // in the order of names, which end in UUIDv7
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), spooled) {
			out = append(out, filepath.Join(s.dir, e.Name()))
		}
	}
	return out, nil
}

// read opens a file; fs.ErrNotExist where another has just dropped it.
func (s *Spool) read(path string) (n answer, err error) {
	sealed, err := os.ReadFile(path)
	if err != nil {
		return n, err
	}
	plain, err := s.box.Open(sealed, spoolAbout(filepath.Base(path)))
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(plain, &n); err != nil {
		return n, fmt.Errorf("decode answer: %w", err)
	}
	return n, nil
}

// Replay stores every answer that this machine's disk still has, and tells how many were of attempts that
// still had their grant, or had stored them just before. Say it when a worker starts; an attempt says it for its own grant by itself.
func (r *Refresher) Replay(ctx context.Context) (stored int, err error) { return r.replayAll(ctx, "") }

// Recover is Replay as a worker's task: repeated while Postgres is away, and over when all is stored.
func (r *Refresher) Recover(ctx context.Context) error {
	for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, time.Minute) {
		n, err := r.Replay(ctx)
		if n > 0 {
			r.Log.InfoContext(ctx, "tokens recovered from the spool", "grants", n)
		}
		if err == nil {
			return nil
		}
		r.Log.WarnContext(ctx, "spool not replayed yet", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

func (r *Refresher) replay(ctx context.Context, org, grant id.ID) (bool, error) {
	n, err := r.replayAll(ctx, nameOf(org, grant))
	return n > 0, err
}

func (r *Refresher) replayAll(ctx context.Context, prefix string) (stored int, err error) {
	files, err := r.Spool.answers(prefix)
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		n, err := r.Spool.read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil { // kept: its key may come back
			r.Log.ErrorContext(ctx, "a spooled answer cannot be read", "file", filepath.Base(file), "error", err)
			continue
		}
		fresh, err := r.store(ctx, n)
		if err != nil {
			return stored, err
		}
		r.Spool.drop(file)
		if fresh {
			stored++
			r.Metrics.ended(n.Platform, Recovered)
		}
		r.Log.InfoContext(ctx, "a spooled answer was replayed", "grant_id", n.Grant.String(), "stored", fresh)
	}
	return stored, nil
}
