package platformretention_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/platformretention"
)

// expiredDay creates a partition of the events that has had its time.
const expiredDay = `CREATE TABLE event_20200101 PARTITION OF event FOR VALUES
	FROM (uuid_floor('2020-01-01Z')) TO (uuid_floor('2020-01-02Z'))`

// mention closes said when text is logged.
type mention struct {
	text string
	said chan struct{}
	once sync.Once
}

func (m *mention) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(m.text)) {
		m.once.Do(func() { close(m.said) })
	}
	return len(b), nil
}

// A lock that is waited for makes every later statement wait behind it.
func TestADayInUseIsDroppedLaterAndHoldsUpNoWriter(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	writer, reader := testkit.Pgx(t, db.URL), testkit.Pgx(t, db.URL)
	waiting := &mention{text: "tables are in use", said: make(chan struct{})}
	job := platformretention.Job{System: db.System, Log: slog.New(slog.NewTextHandler(waiting, nil))}.Handler()
	work := func(ctx context.Context) error {
		return job.Call(ctx, &queue.Claimed{ID: id.New(), Kind: job.Kind, Raw: []byte(`{}`)})
	}
	if err := work(t.Context()); err != nil { // creates the coming days, so that only the old one wants a lock below
		t.Fatal(err)
	}
	if _, err := writer.Exec(t.Context(), expiredDay); err != nil {
		t.Fatal(err)
	}
	export, err := reader.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := export.Exec(t.Context(), "SELECT FROM event"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	go func() { done <- work(ctx) }()
	for tried := false; !tried; {
		if _, err := writer.Exec(ctx, `INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
			SELECT gen_random_uuid(), uuidv7_at(now()), 1, 'contact.created', 'system', '{}', now()`); err != nil {
			t.Fatalf("an event beside the job: %v", err)
		}
		select {
		case <-waiting.said:
			tried = true
		case err := <-done:
			t.Fatalf("the job ended while the day was read: %v", err)
		default:
		}
	}
	if err := export.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var there bool
	if err := writer.QueryRow(t.Context(), "SELECT to_regclass('event_20200101') IS NOT NULL").
		Scan(&there); err != nil || there {
		t.Errorf("the day is still there: %t, %v", there, err)
	}
}
