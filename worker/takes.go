package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// takeMost is how many tasks one trip to Redis takes, at most.
const takeMost = 8

// takes lets asynq's servers of one process take several tasks in one trip to Redis, where they would take one: a trip
// costs this process and Redis more than the task does. What came beyond the one that was asked for is kept for the
// next polls, of whichever server. Nothing is taken that no slot is free for, so nothing is kept for longer than
// servers with a free slot need to ask again: slots that tasks are kept for go to nobody else, as every other lane of
// theirs is said to be empty meanwhile.
type takes struct {
	redis redis.UniversalClient
	mu    sync.Mutex
	crews map[string]*stock
	over  bool // take no more than was asked for
}

// stock is what servers that share lanes have: quick and rest together, and calls.
type stock struct {
	slots int
	out   int // tasks that asynq was given and that have not ended
	asked int // tasks that Redis is being asked for
	spare int // those of them that no poll is for
	kept  []kept
	want  map[string]int // of each lane, the next time
}

type kept struct{ lane, message string }

func newTakes(c redis.UniversalClient) *takes {
	return &takes{redis: c, crews: map[string]*stock{rest: {want: map[string]int{}}, calls: {want: map[string]int{}}}}
}

// shared is the crew under which the stock of a crew is kept.
func shared(crew string) string {
	if crew == quick {
		return rest
	}
	return crew
}

func (t *takes) of(lane string) *stock {
	if lane == callsPending {
		return t.crews[calls]
	}
	return t.crews[rest]
}

// resize says how many slots a crew and those that it shares lanes with have.
func (t *takes) resize(crew string, slots int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.crews[crew].slots = slots
}

// ended is a task that has a slot no more.
func (t *takes) ended(crew string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.crews[shared(crew)]
	s.out = max(0, s.out-1)
}

// pop answers a task that was kept for the lane; and, where there is none, whether to wait as others are kept.
func (t *takes) pop(lane string) (message string, found, wait bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.of(lane)
	i := slices.IndexFunc(s.kept, func(k kept) bool { return k.lane == lane })
	if i < 0 {
		return "", false, len(s.kept) > 0
	}
	message = s.kept[i].message
	s.kept = slices.Delete(s.kept, i, i+1)
	s.out++
	return message, true, false
}

// reserve says how many tasks may be asked for now: one, and more where the last trip found as many as it asked for and
// there are slots for them; none while those that others ask for may need all slots that are free. Bulk's come one by
// one, as not all of the slots that are counted here are open to them. Where the count is off, because asynq never ran
// what it was given, each poll still gets its one.
func (t *takes) reserve(lane string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, n := t.of(lane), 1
	free := s.slots - s.out - s.asked - len(s.kept)
	if free < 1 && s.spare > 0 {
		return 0
	}
	if !t.over && lane != bulkPending {
		n = max(1, min(s.want[lane], free))
	}
	s.asked += n
	s.spare += n - 1
	return n
}

// got is the end of what reserve began: the first message is given to asynq, the others are kept.
func (t *takes) got(lane string, asked int, messages []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.of(lane)
	s.asked -= asked
	s.spare -= asked - 1
	s.want[lane] = max(1, len(messages))
	if len(messages) == asked {
		s.want[lane] = min(2*asked, takeMost)
	}
	for i, m := range messages {
		if i == 0 {
			s.out++
			continue
		}
		s.kept = append(s.kept, kept{lane, m})
	}
}

// take does what cmd, asynq's script that takes a task, asks for, and tells whether Redis had fewer than it was asked
// for.
func (t *takes) take(ctx context.Context, lane string, cmd redis.Cmder, next redis.ProcessHook) (short bool, err error) {
	n := t.reserve(lane)
	if n == 0 {
		cmd.SetErr(redis.Nil)
		return false, redis.Nil
	}
	script, is := cmd.(*redis.Cmd)
	if n == 1 || !is || cmd.Name() != "evalsha" {
		var messages []string
		err = next(ctx, cmd)
		if err == nil {
			messages = []string{""} // asynq has it
		}
		t.got(lane, n, messages)
		return errors.Is(err, redis.Nil), err
	}
	pipe := t.redis.Pipeline()
	cmds := make([]*redis.Cmd, n)
	for i := range cmds {
		cmds[i] = pipe.Do(ctx, cmd.Args()...)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	var messages []string
	for _, c := range cmds {
		if m, err := c.Text(); err == nil {
			messages = append(messages, m)
		}
	}
	t.got(lane, n, messages)
	if len(messages) > 0 {
		script.SetVal(messages[0])
		return len(messages) < n, nil
	}
	err = cmds[0].Err()
	cmd.SetErr(err)
	return errors.Is(err, redis.Nil), err
}

// end takes nothing beyond what is asked for any more, and answers when nothing is kept: within one of asynq's pauses,
// as there are slots for all of it.
func (t *takes) end() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	for until := time.Now().Add(4 * pollPending); time.Now().Before(until) && t.keeps(); {
		time.Sleep(time.Millisecond)
	}
}

func (t *takes) keeps() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.crews {
		if len(s.kept)+s.asked > 0 {
			return true
		}
	}
	return false
}

// bulkPending is bulk's list of pending tasks.
const bulkPending = "asynq:{" + string(queue.Bulk) + "}:pending"
