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
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/journal"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// TokenJournal keeps providers' responses on this machine's disk from their arrival until they are committed, since
// with a single-use refresh token the response is the only copy. The tokens in a file are sealed and bound to their
// grant, as in the row, and the whole file is sealed once more. A nil *TokenJournal keeps nothing.
type TokenJournal struct {
	dir *journal.Dir
	box *secret.Sealer
}

// NewTokenJournal returns the journal in a directory, which it may share with other journals.
func NewTokenJournal(dir *journal.Dir, box *secret.Sealer) *TokenJournal {
	return &TokenJournal{dir: dir, box: box}
}

const spooled = ".answer"

// nameOf returns the file name prefix of a grant, by which its responses are found.
func nameOf(org, grant id.ID) string { return org.String() + "_" + grant.String() + "_" }

func spoolAbout(name string) string { return "social_spool|" + name }

// writeAnswer writes the response to disk and returns its file name. If that fails, it logs the error and returns "";
// the response is still stored in Postgres.
func (s *TokenJournal) writeAnswer(ctx context.Context, n answer, log *slog.Logger) string {
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
		name, err = s.dir.Write(name, sealed)
	}

	if err != nil {
		log.ErrorContext(ctx, "write to token journal failed", "grant_id", n.Grant.String(), "error", err)
		return ""
	}

	return name
}

// deleteFile deletes a file when its response is stored or obsolete.
func (s *TokenJournal) deleteFile(path string) {
	if s != nil && path != "" {
		_ = os.Remove(path)
	}
}

// listFiles lists the files with the given name prefix, the oldest of a grant first.
func (s *TokenJournal) listFiles(prefix string) ([]string, error) {
	if s == nil {
		return nil, nil
	}
	return s.dir.Files(prefix, spooled) // a name ends in a UUIDv7
}

// readAnswer decrypts a file. The error is fs.ErrNotExist if another process has just deleted the file.
func (s *TokenJournal) readAnswer(path string) (n answer, err error) {
	sealed, err := os.ReadFile(path)
	if err != nil {
		return n, err
	}

	plain, err := s.box.Open(sealed, spoolAbout(filepath.Base(path)))
	if err != nil {
		return n, err
	}

	if err := json.Unmarshal(plain, &n); err != nil {
		return n, fmt.Errorf("decode journaled response: %w", err)
	}

	return n, nil
}

// Replay stores every response in this machine's journal. It returns how many were stored, now or just before, because
// their attempt still held its grant. It must be called when a worker starts; each attempt replays its own grant's
// responses itself.
func (r *Refresher) Replay(ctx context.Context) (stored int, err error) { return r.replayAll(ctx, "") }

// Recover runs Replay as a task of the worker: it retries while Postgres is unavailable and returns when all is stored.
func (r *Refresher) Recover(ctx context.Context) error {
	for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, time.Minute) {
		n, err := r.Replay(ctx)
		if n > 0 {
			r.Log.InfoContext(ctx, "tokens recovered from the journal", "grants", n)
		}

		if err == nil {
			return nil
		}

		r.Log.WarnContext(ctx, "replay token journal failed", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}

	return nil
}

func (r *Refresher) replayGrant(ctx context.Context, org, grant id.ID) (bool, error) {
	n, err := r.replayAll(ctx, nameOf(org, grant))
	return n > 0, err
}

func (r *Refresher) replayAll(ctx context.Context, prefix string) (stored int, err error) {
	files, err := r.Spool.listFiles(prefix)
	if err != nil {
		return 0, err
	}

	for _, file := range files {
		n, err := r.Spool.readAnswer(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}

		if err != nil { // kept, since its key may be restored
			r.Log.ErrorContext(ctx, "read journaled response failed", "file", filepath.Base(file), "error", err)
			continue
		}

		fresh, err := r.storeTokens(ctx, n)
		if err != nil {
			return stored, err
		}

		r.Spool.deleteFile(file)
		if fresh {
			stored++
			r.Metrics.countEnded(n.Platform, Recovered)
		}

		r.Log.InfoContext(ctx, "journaled response replayed", "grant_id", n.Grant.String(), "stored", fresh)
	}

	return stored, nil
}
