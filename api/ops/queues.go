package ops

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

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/redisx"
)

// redisURL makes asynq and its dashboard use the same connection settings as the rest of the service.
type redisURL string

// MakeRedisClient implements asynq.RedisConnOpt. The URL was parsed before.
func (u redisURL) MakeRedisClient() any {
	client, err := redisx.Open(string(u), redisx.Worker)
	if err != nil {
		panic(err)
	}
	return client
}

func newDashboard(url string, jobs *jobsAPI, readOnly bool, log *slog.Logger) (*dashboard, error) {
	client, err := redisx.Open(url, redisx.Worker)
	if err != nil {
		return nil, err
	}

	readOnly = readOnly || jobs == nil
	handler := asynqmon.New(asynqmon.Options{
		RootPath:         queuesPath,
		RedisConnOpt:     asynq.RedisConnOpt(redisURL(url)),
		ReadOnly:         readOnly,
		PayloadFormatter: asynqmon.PayloadFormatterFunc(showPayload),
		ResultFormatter: asynqmon.ResultFormatterFunc(func(_ string, result []byte) string {
			return fmt.Sprintf("%d bytes", len(result))
		}),
	})
	page, err := newDashboardPage(handler)
	if err != nil {
		return nil, errors.Join(err, handler.Close(), client.Close())
	}

	return &dashboard{
		HTTPHandler: handler, page: page,
		redis: client, inspect: asynq.NewInspectorFromRedisClient(client), jobs: jobs, readOnly: readOnly, log: log,
	}, nil
}

// Close closes the Redis clients.
func (d *dashboard) Close() error { return errors.Join(d.HTTPHandler.Close(), d.redis.Close()) }

// ServeHTTP passes reads to asynqmon and handles changes itself. It registers asynq's queues before either. It refuses
// to delete a queue.
func (d *dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, api := strings.CutPrefix(r.URL.Path, queuesPath+"/api/")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if !api {
		d.page.servePage(w, r, d.HTTPHandler)
		return
	}

	d.nameQueues(r.Context())
	rest, queues := strings.CutPrefix(path, "queues/")
	if !queues || !isChange(r) {
		d.HTTPHandler.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodDelete && !strings.Contains(strings.Trim(rest, "/"), "/") {
		http.Error(w, "queues cannot be deleted: pause the queue, or archive its tasks",
			http.StatusForbidden)
		return
	}
	if !isJSON(r) {
		http.Error(w, notJSON, http.StatusUnsupportedMediaType)
		return
	}

	action, ours := readDashboardAction(r.Method, rest)
	if d.readOnly || !ours { // if read-only, asynqmon refuses it
		d.HTTPHandler.ServeHTTP(w, r)
		return
	}

	d.executeAction(w, r, action)
}

// nameQueues registers all queues with asynq. asynq's client caches per process which queues it has registered, and
// does not register them again after Redis was emptied.
func (d *dashboard) nameQueues(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := asynqx.RegisterQueues(ctx, d.redis, queue.Lanes()).Err(); err != nil {
		d.log.DebugContext(ctx, "registering queues failed", "error", err) // the page shows the error
	}
}

// showPayload shows the job's id, which is all that our tasks contain. Of other tasks it shows only the size.
func showPayload(_ string, raw []byte) string {
	var task struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &task) != nil || len(task.ID) != 36 {
		return fmt.Sprintf("%d bytes", len(raw))
	}
	return task.ID
}
