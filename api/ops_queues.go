package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/redisx"
)

const queuesPath = "/queues"

// dashboard is Asynq's own, over the queues in Redis. What its page asks to be changed passes through here first:
// the job's row is changed in Postgres, then asynq is told, so that the page tells the truth afterwards.
type dashboard struct {
	*asynqmon.HTTPHandler
	redis    redis.UniversalClient
	inspect  *asynq.Inspector
	desk     *jobDesk // nil where nothing may be changed
	readOnly bool
	log      *slog.Logger
}

// redisURL lets asynq and its dashboard connect the way the rest of the service does.
type redisURL string

// MakeRedisClient is asynq's interface. The URL has been parsed before.
func (u redisURL) MakeRedisClient() any {
	client, err := redisx.Open(string(u), redisx.Worker)
	if err != nil {
		panic(err)
	}
	return client
}

func newDashboard(url string, desk *jobDesk, readOnly bool, log *slog.Logger) (*dashboard, error) {
	client, err := redisx.Open(url, redisx.Worker)
	if err != nil {
		return nil, err
	}
	readOnly = readOnly || desk == nil
	return &dashboard{
		HTTPHandler: asynqmon.New(asynqmon.Options{
			RootPath:         queuesPath,
			RedisConnOpt:     asynq.RedisConnOpt(redisURL(url)),
			ReadOnly:         readOnly,
			PayloadFormatter: asynqmon.PayloadFormatterFunc(payload),
			ResultFormatter:  asynqmon.ResultFormatterFunc(func(_ string, result []byte) string { return fmt.Sprintf("%d bytes", len(result)) }),
		}),
		redis: client, inspect: asynq.NewInspectorFromRedisClient(client), desk: desk, readOnly: readOnly, log: log,
	}, nil
}

// Close gives back the clients.
func (d *dashboard) Close() error { return errors.Join(d.HTTPHandler.Close(), d.redis.Close()) }

// ServeHTTP lets reads through, and does what changes something itself; either once asynq knows its queues. A queue
// with all its tasks is not taken away.
func (d *dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, api := strings.CutPrefix(r.URL.Path, queuesPath+"/api/")
	if api {
		d.nameQueues(r.Context())
	}
	rest, queues := strings.CutPrefix(path, "queues/")
	if !api || !queues || !changes(r) {
		d.HTTPHandler.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodDelete && !strings.Contains(strings.Trim(rest, "/"), "/") {
		http.Error(w, "queues are the service's lanes and are not deleted: pause it, or archive its tasks", http.StatusForbidden)
		return
	}
	wish, ours := readWish(r.Method, rest)
	if d.readOnly || !ours { // read only, asynqmon refuses it
		d.HTTPHandler.ServeHTTP(w, r)
		return
	}
	d.grant(w, r, wish)
}

// nameQueues tells asynq the queues that there are. It remembers in each process which ones it has named, and so
// names none again to a Redis that was emptied.
func (d *dashboard) nameQueues(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var names []any
	for _, lane := range queue.Lanes() {
		names = append(names, string(lane))
	}
	if err := d.redis.SAdd(ctx, "asynq:queues", names...).Err(); err != nil {
		d.log.DebugContext(ctx, "queues not named", "error", err) // the page will say the rest
	}
}

// payload shows the job's id, which is all that a task of ours bears; of any other only its size.
func payload(_ string, raw []byte) string {
	var task struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &task) != nil || len(task.ID) != 36 {
		return fmt.Sprintf("%d bytes", len(raw))
	}
	return task.ID
}
