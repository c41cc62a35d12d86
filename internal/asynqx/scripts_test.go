package asynqx_test

import (
	"context"
	"crypto/sha1" // as Redis names scripts
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

var update = flag.Bool("update", false, "renew the golden file")

// recorder notes each distinct command: name, script, keys, number of arguments, and the type of its reply.
type recorder struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (*recorder) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (r *recorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		script, is := cmd.(*redis.Cmd)
		if is && strings.HasPrefix(cmd.Name(), "eval") && !redis.HasErrorPrefix(err, "NOSCRIPT") &&
			!errors.Is(err, context.Canceled) {
			r.note(script, err)
		}
		return err
	}
}

// changing are the parts of keys that differ between runs.
var changing = regexp.MustCompile(`\d{4}-\d\d-\d\d|(\}:t:)\w+`)

// housekeeping are the first keys of scripts that run by time.
var housekeeping = regexp.MustCompile(`\}:(scheduled|retry|lease|completed|aggregation_sets)$`)

func (r *recorder) note(script *redis.Cmd, err error) {
	args := script.Args()
	n, name := args[2].(int), args[1].(string)
	first := fmt.Sprint(args[3])
	if n == 0 || housekeeping.MatchString(first) || !strings.HasPrefix(first, "asynq:{q}:") {
		return
	}
	if script.Name() == "eval" {
		sum := sha1.Sum([]byte(name)) // as Redis names scripts
		name = hex.EncodeToString(sum[:])
	}
	line := "script " + name
	for _, key := range args[3 : 3+n] {
		line += "\n  key " + changing.ReplaceAllString(fmt.Sprint(key), "$1*")
	}
	line += fmt.Sprintf("\n  %d arguments", len(args)-3-n)
	switch {
	case errors.Is(err, redis.Nil):
		line += "\n  reply nil"
	case err != nil:
		line += "\n  error " + err.Error()
	default:
		line += fmt.Sprintf("\n  reply %T", script.Val())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[line] = true
}

// Each script that asynq sends for our tasks must be the one that this package was written for: the SHA-1 that names
// the script changes with its text.
func TestScriptsKeysAndRepliesOfAsynqAreThoseThatThisPackageKnows(t *testing.T) {
	t.Parallel()
	client := open(t)
	seen := &recorder{seen: map[string]bool{}}
	client.AddHook(seen)
	enqueue := asynq.NewClientFromRedisClient(client)
	add := func(task string) error {
		_, err := enqueue.EnqueueContext(t.Context(), asynq.NewTask("test", []byte(task)), asynq.TaskID(task),
			asynq.Queue("q"), asynq.MaxRetry(3))
		return err
	}
	for _, task := range []string{"done", "fails", "dies", "lost", "done", "last"} {
		if err := add(task); err != nil && (task != "done" || !errors.Is(err, asynq.ErrTaskIDConflict)) {
			t.Fatal(err)
		}
	}
	var log texts
	ended := make(chan struct{})
	server := asynq.NewServerFromRedisClient(client, asynq.Config{
		Concurrency: 1, Queues: map[string]int{"q": 1}, TaskCheckInterval: 10 * time.Millisecond,
		ShutdownTimeout: time.Millisecond, Logger: &log,
	})
	if err := server.Start(asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
		switch string(task.Payload()) {
		case "fails":
			return errors.New("failed")
		case "dies":
			return asynq.SkipRetry
		case "lost":
			return client.Del(t.Context(), asynqx.TaskKey("q", "lost")).Err()
		case "last":
			close(ended)
			<-ctx.Done() // until the server gives it back
		}
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	<-ended
	server.Shutdown()
	lines := make([]string, 0, len(seen.seen))
	for line := range seen.seen {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	const golden = "testdata/scripts.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range log.lines {
		if strings.Contains(line, "lost") && !asynqx.IsExpected(line) ||
			strings.HasPrefix(line, "Retry exhausted") != strings.Contains(line, "dies") {
			t.Errorf("log line %q", line)
		}
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("asynq's scripts are not those of %s: read them, then run with -update\n%s", asynqx.Version, diff)
	}
}

func TestKeysStandForWhatTheInspectorShows(t *testing.T) {
	t.Parallel()
	client := open(t)
	inspect := asynq.NewInspectorFromRedisClient(client)
	lanes := []string{"a", "b"}
	if err := asynqx.RegisterQueues(t.Context(), client, lanes).Err(); err != nil {
		t.Fatal(err)
	}
	queues, err := inspect.Queues()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lanes, slices.Sorted(slices.Values(queues))); diff != "" {
		t.Error(diff)
	}
	for _, paused := range []bool{true, true, false, false} {
		asynqx.SetPaused(t.Context(), client, "a", paused)
		info, err := inspect.GetQueueInfo("a")
		if err != nil || info.Paused != paused {
			t.Errorf("paused %t, %v, want %t", info.Paused, err, paused)
		}
	}
	client.ZAdd(t.Context(), asynqx.Key("a", asynqx.Retry), redis.Z{Member: "r"})
	client.ZAdd(t.Context(), asynqx.Key("a", asynqx.Archived), redis.Z{Member: "x"}, redis.Z{Member: "y"})
	client.LPush(t.Context(), asynqx.Key("a", asynqx.Pending), "1", "2", "3")
	client.LPush(t.Context(), asynqx.Key("a", asynqx.Active), "4", "5", "6", "7")
	for _, task := range strings.Split("r x y 1 2 3 4 5 6 7", " ") { // the inspector adds their sizes up
		client.HSet(t.Context(), asynqx.TaskKey("a", task), "msg", "")
	}
	info, err := inspect.GetQueueInfo("a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4}, []int{info.Retry, info.Archived, info.Pending, info.Active}); diff != "" {
		t.Error(diff)
	}
}

func TestErrorsOfTheInspectorAreRecognized(t *testing.T) {
	t.Parallel()
	client := open(t)
	enqueue, inspect := asynqx.NewClient(client), asynq.NewInspectorFromRedisClient(client)
	for _, task := range []string{"active", "lost"} {
		if err := enqueue.Enqueue(t.Context(), asynqx.Task{
			Task: asynq.NewTask("test", nil), Options: []asynq.Option{asynq.TaskID(task), asynq.Queue("q")},
		})[0]; err != nil {
			t.Fatal(err)
		}
		state := map[string]string{"lost": "retry"}[task]
		if state == "" {
			state = task
		}
		if err := client.HSet(t.Context(), asynqx.TaskKey("q", task), "state", state).Err(); err != nil {
			t.Fatal(err)
		}
	}
	states, err := enqueue.States(t.Context(), []string{
		asynqx.TaskKey("q", "active"), asynqx.TaskKey("q", "lost"), asynqx.TaskKey("q", "none"),
	})
	if diff := cmp.Diff([]string{"active", "retry", ""}, states); diff != "" || err != nil {
		t.Error(diff, err)
	}
	run, remove := inspect.RunTask("q", "lost"), inspect.DeleteTask("q", "lost")
	if !asynqx.IsIncomplete(run) || asynqx.IsIncomplete(inspect.RunTask("q", "none")) {
		t.Errorf("an entry without its set: run %v, delete %v", run, remove)
	}
	for _, err := range []error{inspect.DeleteTask("q", "active"), inspect.ArchiveTask("q", "active")} {
		if !asynqx.IsActive(err) {
			t.Errorf("an active task: %v", err)
		}
		if text := asynqx.Text(err); strings.HasPrefix(text, "asynq") || text == "" {
			t.Errorf("text %q", text)
		}
	}
	if asynqx.IsActive(remove) {
		t.Errorf("%v is not about an active task", remove)
	}
}

// texts keeps the warnings and errors of a server.
type texts struct {
	mu    sync.Mutex
	lines []string
}

func (l *texts) Debug(...any) {}
func (l *texts) Info(...any)  {}
func (l *texts) Fatal(...any) {}

func (l *texts) Warn(args ...any) { l.Error(args...) }

func (l *texts) Error(args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprint(args...))
}

func open(t *testing.T) redis.UniversalClient {
	t.Helper()
	client, err := redisx.Open(testkit.RealRedis(t).URL, redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}
