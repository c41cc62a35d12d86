package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/id"
)

// neverByAsynq is the time limit that asynq gets: the worker has limits of its own, and asynq's would free the
// slot of a run that is still going.
const neverByAsynq = 24 * time.Hour

// Task is what a delivery says: look at this job of this org.
type Task struct {
	ID  id.ID `json:"id"`
	Org id.ID `json:"org"`
}

// A payload as payload writes it: two ids at fixed places.
const (
	payloadID  = `{"id":"`
	payloadOrg = `","org":"`
	payloadEnd = `"}`
	idLength   = 36
)

// payload is t as JSON.
func (t Task) payload() []byte {
	out := make([]byte, 0, len(payloadID)+idLength+len(payloadOrg)+idLength+len(payloadEnd))
	out = append(append(out, payloadID...), t.ID.String()...)
	out = append(append(out, payloadOrg...), t.Org.String()...)
	return append(out, payloadEnd...)
}

// ReadTask decodes the payload of a delivery, at once where payload wrote it: each run begins here, in a goroutine whose
// stack encoding/json makes grow.
func ReadTask(payload []byte) (t Task, err error) {
	rest, ours := bytes.CutPrefix(payload, []byte(payloadID))
	if ours && len(rest) == idLength+len(payloadOrg)+idLength+len(payloadEnd) {
		job, between := rest[:idLength], rest[idLength:idLength+len(payloadOrg)]
		org, end := rest[idLength+len(payloadOrg):][:idLength], rest[len(rest)-len(payloadEnd):]
		if string(between) == payloadOrg && string(end) == payloadEnd && t.ID.UnmarshalText(job) == nil && t.Org.UnmarshalText(org) == nil && !t.ID.IsZero() {
			return t, nil
		}
	}
	t = Task{}
	if err := json.Unmarshal(payload, &t); err != nil {
		return t, fmt.Errorf("decode task: %w", err)
	}
	if t.ID.IsZero() {
		return t, errors.New("decode task: no id")
	}
	return t, nil
}

// TaskID is the job's present name in asynq, "id:dispatch".
func (r Ref) TaskID() string { return r.ID.String() + ":" + strconv.Itoa(r.Dispatch) }

// task is the job as asynq gets it. Retention, Unique, Group and ProcessIn are not used: they would keep,
// merge or delay what Postgres alone decides.
func (r Ref) task() (*asynq.Task, []asynq.Option) {
	return asynq.NewTask(r.Kind, Task{ID: r.ID, Org: r.Org}.payload()), []asynq.Option{
		asynq.TaskID(r.TaskID()), asynq.Queue(string(r.Lane)), asynq.MaxRetry(r.MaxAttempts), asynq.Timeout(neverByAsynq),
	}
}

// Enqueuer puts tasks into asynq. It is safe for concurrent use.
type Enqueuer struct {
	redis redis.UniversalClient
	asynq *asynq.Client
}

// NewEnqueuer uses c, to which it adds a hook that acts on this Enqueuer's own commands only.
func NewEnqueuer(c redis.UniversalClient) *Enqueuer {
	c.AddHook(collect{})
	return &Enqueuer{redis: c, asynq: asynq.NewClientFromRedisClient(c)}
}

// Enqueue answers one error per ref: nil, asynq.ErrTaskIDConflict where a task of that name exists in whatever
// state, or Redis's error. Several refs travel in one pipeline; asynq has no batch call in v0.26, so its
// commands are collected on their way out and sent together.
func (e *Enqueuer) Enqueue(ctx context.Context, refs ...Ref) []error {
	if len(refs) == 1 {
		return []error{e.one(ctx, refs[0])}
	}
	out := make([]error, len(refs))
	var kept collected
	var of []int // the ref of each kept command
	keeping := context.WithValue(ctx, collectKey{}, &kept)
	for i, r := range refs {
		out[i] = e.one(keeping, r)
		for len(of) < len(kept.args) {
			of = append(of, i)
		}
	}
	if len(of) == 0 {
		return out
	}
	pipe := e.redis.Pipeline()
	cmds := make([]*redis.Cmd, len(of))
	for i, args := range kept.args {
		cmds[i] = pipe.Do(ctx, args...)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	for i, cmd := range cmds {
		added, err := cmd.Int()
		switch {
		case err == nil && added == 0:
			err = asynq.ErrTaskIDConflict
		case err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT"):
			err = e.one(ctx, refs[of[i]]) // loads the script for the next time
		}
		out[of[i]] = err
	}
	return out
}

func (e *Enqueuer) one(ctx context.Context, r Ref) error {
	task, opts := r.task()
	_, err := e.asynq.EnqueueContext(ctx, task, opts...)
	return err
}

type collectKey struct{}

type collected struct{ args [][]any }

// collect keeps the scripts of a context that carries a collected back, and answers "added" in their place.
type collect struct{}

func (collect) DialHook(next redis.DialHook) redis.DialHook { return next }

func (collect) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (collect) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		kept, ok := ctx.Value(collectKey{}).(*collected)
		script, is := cmd.(*redis.Cmd)
		if !ok || !is || cmd.Name() != "evalsha" {
			return next(ctx, cmd)
		}
		kept.args = append(kept.args, slices.Clone(cmd.Args()))
		script.SetVal(int64(1))
		return nil
	}
}
