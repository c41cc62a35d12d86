package replyjournal

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Intervals.
const (
	// fileEvery is the interval at which the file is brought up to date.
	fileEvery = 250 * time.Millisecond
	// adoptEvery is the interval at which files of processes that have ended are looked for.
	adoptEvery = 5 * time.Second
	// firstPause and longestPause are the delays between two attempts while Postgres is away: as soon as it is back,
	// the relay begins to give the jobs of these emails to other runs.
	firstPause   = 100 * time.Millisecond
	longestPause = time.Second
	// longestDelay is the delay between two attempts to write a reply that Postgres refuses.
	longestDelay = 15 * time.Second
	// statement bounds the transaction of one reply.
	statement = 5 * time.Second
	// atEnd bounds the last attempt when the process ends.
	atEnd = 2 * time.Second
)

// Run writes replies, to the file and to Postgres, until ctx ends. It must outlive the worker. At the end it tries once
// more, and leaves the other replies in the file.
func (j *Journal) Run(ctx context.Context) error {
	var tasks sync.WaitGroup
	tasks.Go(func() { j.keepFile(ctx) })
	tasks.Go(func() { j.keepWriting(ctx) })
	tasks.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), atEnd)
	defer cancel()
	j.replayDue(last)
	j.storeOlder(last, 0)
	j.close()
	return nil
}

// close gives up the files, so that another process may adopt them.
func (j *Journal) close() {
	j.file.close()
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.replies {
		if e.from != nil {
			e.from.file.Close()
		}
	}
}

func (j *Journal) keepFile(ctx context.Context) {
	tick, look := time.NewTicker(fileEvery), time.NewTicker(adoptEvery)
	defer tick.Stop()
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			j.storeOlder(ctx, storeAfter)
		case <-look.C:
			j.adoptFiles(ctx)
		}
	}
}

func (j *Journal) keepWriting(ctx context.Context) {
	pause := longestPause
	for isAway := false; ; {
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-j.left:
			timer.Stop()
		case <-timer.C:
		}
		wasAway := isAway
		isAway = !j.replayDue(ctx)
		switch {
		case !isAway:
			pause = longestPause
		case !wasAway:
			pause = firstPause
		default:
			pause = min(2*pause, longestPause)
		}
	}
}

// replayDue writes the replies that are due, first those that were tried the longest time ago: a locked row delays its
// own reply only. It returns false if Postgres is away.
func (j *Journal) replayDue(ctx context.Context) bool {
	counts := map[emails.Replayed]int{}
	var refused error
	defer func() { j.reportReplay(ctx, counts, refused) }()
	for _, k := range j.dueReplies(time.Now()) {
		e := j.beginWriting(k)
		if e == nil {
			continue
		}
		result, err := j.writeReply(ctx, &e.reply)
		j.endWriting(k, e, result, err)
		switch {
		case err == nil:
			counts[result]++
		case ctx.Err() != nil, isAway(err):
			return false
		default:
			refused = err
		}
	}

	return true
}

// dueReplies returns the replies to write.
func (j *Journal) dueReplies(now time.Time) []key {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []key
	for k, e := range j.replies {
		if !e.isRunning && !now.Before(e.next) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b key) int {
		one, other := j.replies[a], j.replies[b]
		return cmp.Or(one.tried.Compare(other.tried), one.since.Compare(other.since))
	})

	return out
}

// beginWriting returns the reply if no run has taken it meanwhile.
func (j *Journal) beginWriting(k key) *entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.replies[k]
	if e == nil || e.isRunning {
		return nil
	}
	e.isWriting, e.tried = true, time.Now()
	return e
}

func (j *Journal) endWriting(k key, e *entry, result emails.Replayed, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.isWriting = false
	switch {
	case err == nil && result != emails.Waits:
		j.remove(k, e)
	case err == nil:
		e.next = time.Now().Add(longestPause)
	case !isAway(err):
		e.delay = min(max(2*e.delay, longestPause), longestDelay)
		e.next = time.Now().Add(e.delay)
	}
}

func (j *Journal) writeReply(ctx context.Context, f *emails.FinalReply) (result emails.Replayed, err error) {
	ctx, cancel := context.WithTimeout(ctx, statement)
	defer cancel()
	err = j.opt.DB.Tx(ctx, f.Org, func(tx *postgres.Tx) (err error) {
		result, err = emails.Replay(ctx, tx, f)
		return err
	})
	return result, err
}

// isAway reports whether no reply can be written for now.
func isAway(err error) bool { return postgres.Lost(err) || postgres.Away(err) }

// reportReplay logs and counts what replayDue has written. refused is the error of a reply that Postgres refused.
func (j *Journal) reportReplay(ctx context.Context, counts map[emails.Replayed]int, refused error) {
	for result, n := range counts {
		j.metrics.countReplayed(result, n)
	}
	sent, failed := counts[emails.ReplayedSent], counts[emails.ReplayedFailed]
	if sent+failed > 0 {
		j.opt.Log.InfoContext(ctx, "final replies of mail servers written from the journal", "sent", sent, "failed",
			failed)
	}
	if refused != nil {
		j.opt.Log.ErrorContext(ctx, "write final replies of mail servers failed", "error", refused)
	}
}
