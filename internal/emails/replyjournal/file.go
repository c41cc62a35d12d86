package replyjournal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/journal"
)

// storeAfter is the age from which a reply is in the file: Postgres takes nearly all of them earlier.
const storeAfter = 500 * time.Millisecond

// Names of the files.
const (
	prefix = "replies-"
	suffix = ".journal"
)

// file is the journal's file. It is not safe for concurrent use.
type file struct {
	dir     *journal.Dir // nil: there is no file
	own     *journal.Owned
	log     *slog.Logger
	content []byte
	failing bool
	full    bool
}

func newFile(dir *journal.Dir, log *slog.Logger) *file {
	f := &file{dir: dir, log: log}
	if dir != nil {
		f.own = dir.Own(prefix + id.New().String() + suffix)
	}
	return f
}

// writeContent makes the file have the content. Without content there is no file.
func (f *file) writeContent(ctx context.Context, content []byte) {
	if f.dir == nil || bytes.Equal(content, f.content) {
		return
	}
	var err error
	if len(content) > 0 {
		err = f.own.Write(content)
	} else {
		err = f.own.Remove()
	}
	if err == nil {
		f.content = content
	} else if !f.failing {
		f.log.WarnContext(ctx,
			"final replies of mail servers are kept in the process alone: the journal cannot be written", "error", err)
	}
	f.failing = err != nil
}

func (f *file) close() {
	if f.own != nil {
		f.own.Close()
	}
}

// storeOlder brings the file up to date with the replies that are at least as old as age. Replies in adopted files are
// in those.
func (j *Journal) storeOlder(ctx context.Context, age time.Duration) {
	old := j.olderThan(time.Now().Add(-age))
	var content []byte
	stored, full := 0, false
	for i := range old {
		line, err := json.Marshal(&old[i])
		if err != nil {
			j.opt.Log.ErrorContext(ctx, "encode final reply of a mail server failed", "error", err)
			continue
		}
		if full = len(content)+journal.LineLength(line) > maxBytes; full {
			break
		}
		content = journal.AppendLine(content, line)
		stored++
	}
	if full && !j.file.full {
		j.opt.Log.ErrorContext(ctx,
			"final replies of mail servers are kept in the process alone: the journal's file is full",
			"replies", len(old), "stored", stored)
	}
	j.file.full = full
	j.file.writeContent(ctx, content)
	if j.file.dir == nil || j.file.failing {
		stored = 0
	}
	j.metrics.stored.Set(float64(stored))
	j.metrics.waiting.Set(float64(j.Waiting()))
}

// olderThan returns the replies that were kept before a time, the oldest first.
func (j *Journal) olderThan(t time.Time) []emails.FinalReply {
	j.mu.Lock()
	var found []*entry
	for _, e := range j.replies {
		if e.from == nil && !e.since.After(t) {
			found = append(found, e)
		}
	}
	j.mu.Unlock()
	slices.SortFunc(found, func(a, b *entry) int {
		return cmp.Or(a.since.Compare(b.since), bytes.Compare(a.reply.Email[:], b.reply.Email[:]))
	})
	out := make([]emails.FinalReply, len(found))
	for i, e := range found {
		out[i] = e.reply
	}

	return out
}
