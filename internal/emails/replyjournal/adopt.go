package replyjournal

import (
	"context"
	"encoding/json"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/journal"
)

// adopted is the file of a process that has ended. It is deleted when all of its replies are written.
type adopted struct {
	file *journal.Owned
	open int // replies that are not written; guarded by the Journal's lock
}

// releaseReply is called for each reply that is written. It requires the Journal's lock.
func (a *adopted) releaseReply() {
	if a.open--; a.open <= 0 {
		_ = a.file.Remove()
		a.file.Close()
	}
}

// adoptFiles takes over the files of processes that have ended.
func (j *Journal) adoptFiles(ctx context.Context) {
	if j.opt.Dir == nil {
		return
	}
	files, err := j.opt.Dir.Adopt(prefix, suffix)
	if err != nil {
		j.opt.Log.WarnContext(ctx, "look for final replies of mail servers failed", "error", err)
		return
	}

	for _, f := range files {
		j.adoptFile(ctx, f)
	}
}

func (j *Journal) adoptFile(ctx context.Context, f *journal.Owned) {
	body, err := f.Read(maxBytes)
	if err != nil {
		f.Close()
		j.opt.Log.ErrorContext(ctx, "read final replies of mail servers failed", "error", err)
		return
	}
	replies, damaged := parseReplies(body)
	if !j.addAll(f, replies) { // it waits for room
		f.Close()
		return
	}

	j.opt.Log.WarnContext(ctx, "final replies of mail servers found that an ended process has left", "replies",
		len(replies), "damaged", damaged)
	j.wakeReplay()
}

// addAll adds the replies of a file that are not there already. It returns false, and has added none, if there is no
// room for them.
func (j *Journal) addAll(f *journal.Owned, replies []emails.FinalReply) bool {
	a := &adopted{file: f, open: 1} // until all of them are added
	now := time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(replies) > 0 && len(j.replies)+len(replies) > j.opt.MaxReplies {
		return false
	}
	for i := range replies {
		if k := keyOf(&replies[i]); j.replies[k] == nil {
			j.replies[k] = &entry{reply: replies[i], since: now, from: a}
			a.open++
		}
	}
	a.releaseReply()

	return true
}

// parseReplies returns the replies of a file, and how many lines are damaged.
func parseReplies(body []byte) (replies []emails.FinalReply, damaged int) {
	lines, damaged := journal.Lines(body)
	for _, line := range lines {
		var f emails.FinalReply
		if json.Unmarshal(line, &f) != nil || f.Email.IsZero() || f.Fence.IsZero() {
			damaged++
			continue
		}
		replies = append(replies, f)
	}
	return replies, damaged
}
