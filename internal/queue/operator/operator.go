package operator

import (
	"encoding/json"
	"errors"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// Operator implements what operators do to jobs: T12 to T14, redrives, pauses and searches. Each action is one short
// transaction that also writes an audit entry and calls the Store's hooks. The changes to asynq follow the commit, best
// effort, because the relay repairs whatever is missing. Actions therefore work while Redis is down.
type Operator struct {
	store      *store.Store
	redis      redis.UniversalClient
	dispatcher *dispatch.Dispatcher
	inspect    *asynq.Inspector
	recent     int // the constant recent; tests lower it
}

// New returns an Operator for l's jobs that also updates the asynq in c. It adds the hook of an Enqueuer to c.
// If c is nil, the relay brings the changes to asynq.
func New(l *store.Store, c redis.UniversalClient) *Operator {
	o := &Operator{store: l, redis: c, recent: recent}
	if c != nil {
		o.dispatcher, o.inspect = dispatch.New(l, c), asynq.NewInspectorFromRedisClient(c)
	}
	return o
}

// By is the actor of an action and the reason.
type By struct {
	Actor  string
	Reason string
	// Scope describes in the audit what the jobs have in common, if they were not named one by one.
	Scope string
}

// Key identifies a job.
type Key struct {
	Org id.ID `json:"org_id"`
	ID  id.ID `json:"id"`
}

// recent is how many of the newest dead jobs are scanned for an error text before the text index is used. Common texts
// are found in the scan. For rare texts the index returns few rows, which are cheap to sort.
const recent = 5_000

// Result is the result of an action for one job.
type Result string

// The results.
const (
	Acted Result = "done"
	Held  Result = "held" // a run holds the job: nothing was changed
	Gone  Result = "gone" // no such job
	Unfit Result = "dead" // the action needs an open job, but it is dead: nothing was changed
)

// ErrUnreasoned reports an action that requires a reason and got none.
var ErrUnreasoned = errors.New("a reason is required")

// touched is a row that an action changed.
type touched struct {
	queue.Ref
	due  bool // not paused
	args json.RawMessage
}

// scanTargets returns the scan targets for the columns that an action returns.
func (t *touched) scanTargets() []any {
	return []any{&t.Org, &t.ID, &t.Kind, &t.Lane, &t.MaxAttempts, &t.Dispatch, &t.due, &t.args}
}
