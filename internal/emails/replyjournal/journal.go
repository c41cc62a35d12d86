package replyjournal

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/journal"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// The bounds.
const (
	// MaxReplies is how many replies a process keeps.
	MaxReplies = 10_000
	// maxBytes is the size of its file.
	maxBytes = 4 << 20
)

// Options configures a Journal. DB and Log must be set.
type Options struct {
	DB      *postgres.DB // App role
	Dir     *journal.Dir // nil: replies are kept in the process alone
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil: none
	// MaxReplies is for tests; 0: the package's.
	MaxReplies int
}

// Journal keeps the final replies of a process. It is safe for concurrent use. A nil *Journal keeps nothing.
type Journal struct {
	opt     Options
	metrics *metrics
	file    *file
	left    chan struct{} // has an element while replies may be written

	mu      sync.Mutex
	replies map[key]*entry
	full    bool // a reply was not kept since the journal was empty
}

// key identifies a mark.
type key struct{ email, fence id.ID }

func keyOf(f *emails.FinalReply) key { return key{f.Email, f.Fence} }

// entry is a reply that is not written yet.
type entry struct {
	reply     emails.FinalReply
	since     time.Time
	isRunning bool // a run writes the outcome
	isWriting bool // the Journal does
	tried     time.Time
	// Of a reply that Postgres refuses: when to try again, and the delay after that.
	next  time.Time
	delay time.Duration
	from  *adopted // the file of an ended process that has the reply; nil: none
}

// New returns a journal with the replies of processes that have ended. Run must be called for them to be written.
func New(ctx context.Context, o Options) *Journal {
	if o.MaxReplies == 0 {
		o.MaxReplies = MaxReplies
	}
	j := &Journal{
		opt: o, metrics: newMetrics(o.Metrics), replies: map[key]*entry{}, left: make(chan struct{}, 1),
		file: newFile(o.Dir, o.Log),
	}
	j.adoptFiles(ctx)
	return j
}

// Keep keeps a reply until the run has written its outcome, or else until the Journal has.
func (j *Journal) Keep(ctx context.Context, run *queue.Claimed, f emails.FinalReply) {
	if j == nil {
		return
	}
	if !j.add(&entry{reply: f, since: time.Now(), isRunning: true}) {
		j.refuseReply(ctx)
		return
	}
	k := keyOf(&f)
	run.AfterRun(func(written bool) { j.runEnded(k, written) })
}

// add returns false if there is no room.
func (j *Journal) add(e *entry) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	k := keyOf(&e.reply)
	if j.replies[k] == nil && len(j.replies) >= j.opt.MaxReplies {
		return false
	}
	j.replies[k] = e
	return true
}

// refuseReply reports a reply for which there is no room.
func (j *Journal) refuseReply(ctx context.Context) {
	j.metrics.dropped.Inc()
	j.mu.Lock()
	first := !j.full
	j.full = true
	j.mu.Unlock()
	if first {
		j.opt.Log.ErrorContext(ctx, "final replies of mail servers are not kept: the journal is full", "replies",
			j.opt.MaxReplies)
	}
}

// runEnded is called when a run has ended.
func (j *Journal) runEnded(k key, written bool) {
	j.mu.Lock()
	e := j.replies[k]
	if e != nil {
		e.isRunning = false
		if written {
			j.remove(k, e)
		}
	}
	j.mu.Unlock()
	if e != nil && !written {
		j.wakeReplay()
	}
}

// remove requires the lock.
func (j *Journal) remove(k key, e *entry) {
	if delete(j.replies, k); len(j.replies) == 0 {
		j.full = false
	}
	if e.from != nil {
		e.from.releaseReply()
	}
}

func (j *Journal) wakeReplay() {
	select {
	case j.left <- struct{}{}:
	default:
	}
}

// Take returns the reply of an earlier run that has marked the email, for run to write its outcome; nil: there is none.
// isBusy reports that the outcome is being written at the moment.
func (j *Journal) Take(run *queue.Claimed, email, fence id.ID) (f *emails.FinalReply, isBusy bool) {
	if j == nil {
		return nil, false
	}
	k := key{email, fence}
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.replies[k]
	if e == nil || e.isRunning || e.isWriting {
		return nil, e != nil
	}

	e.isRunning = true
	run.AfterRun(func(written bool) { j.runEnded(k, written) })

	return &e.reply, false
}

// Waiting returns how many replies the Journal itself has to write.
func (j *Journal) Waiting() (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.replies {
		if !e.isRunning {
			n++
		}
	}
	return n
}
