package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/telemetry"
	"github.com/funnelwork/funnelwork/worker"
)

// lockedLog collects the lines of several goroutines.
type lockedLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestEveryLineUnderAJobHasTheIDsOfTheJob(t *testing.T) {
	t.Parallel()
	h := open(t)
	var log lockedLog
	h.log = telemetry.NewLogger(&log, false, slog.LevelInfo)
	once := queue.Options{MaxAttempts: 1}
	call, rows := queue.Define[none]("test.lines_call", once), queue.Define[none]("test.lines_rows", once)
	fail, panics := queue.Define[none]("test.lines_fail", once), queue.Define[none]("test.lines_panic", once)
	h.add(adding(call, none{}), adding(rows, none{}), adding(fail, none{}), adding(panics, none{}))
	type line struct {
		Msg, Kind string
		Job       string `json:"job_id"`
		Org       string `json:"org_id"`
	}
	want := map[line]int{}
	messages := map[string][]string{
		call.Name(): {"in a job"}, rows.Name(): {"in a job"}, fail.Name(): {}, panics.Name(): {"job panicked"},
	}
	waiting := h.jobs() // before a worker takes them
	for _, j := range waiting {
		for _, msg := range append(messages[j.Kind], "job ran") {
			want[line{Msg: msg, Kind: j.Kind, Job: j.ID.String(), Org: j.Org.String()}]++
		}
	}
	h.work(worker.Options{},
		call.Handle(func(ctx context.Context, _ *queue.Run[none]) error {
			h.log.InfoContext(ctx, "in a job")
			return nil
		}),
		rows.HandleTx(func(ctx context.Context, tx *postgres.Tx, run *queue.Run[none]) error {
			h.log.InfoContext(ctx, "in a job")
			return markWork(ctx, tx, run)
		}),
		fail.Handle(func(context.Context, *queue.Run[none]) error { return errors.New("no") }),
		panics.Handle(func(context.Context, *queue.Run[none]) error { panic("no") }),
	)
	for _, j := range waiting {
		h.push(j.ref())
	}
	h.until(giveUpAfter, "every job ran", func() bool { return strings.Count(log.String(), `"msg":"job ran"`) == 4 })

	background := map[string]bool{"worker started": true, "jobs wait for slots": true, "asynq": true}
	got := map[line]int{}
	for text := range strings.Lines(log.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !background[l.Msg] {
			got[l]++
		}
		for _, name := range []string{telemetry.Job, telemetry.Org, telemetry.Kind} {
			if strings.Count(text, `"`+name+`"`) > 1 {
				t.Errorf("%s is there twice: %s", name, text)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s\n%s", diff, log.String())
	}
}
