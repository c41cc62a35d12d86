package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"

	"github.com/funnelwork/funnelwork/internal/redisx"
)

const queuesPath = "/queues"

// dashboard is Asynq's own, over the queues in Redis. What it changes are hints, since Postgres decides what
// runs: a task that is deleted here and whose row is still open comes back.
type dashboard struct {
	*asynqmon.HTTPHandler
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

func newDashboard(url string, readOnly bool) (*dashboard, error) {
	client, err := redisx.Open(url, redisx.Worker)
	if err != nil {
		return nil, err
	}
	if err := client.Close(); err != nil {
		return nil, err
	}
	return &dashboard{asynqmon.New(asynqmon.Options{
		RootPath:         queuesPath,
		RedisConnOpt:     asynq.RedisConnOpt(redisURL(url)),
		ReadOnly:         readOnly,
		PayloadFormatter: asynqmon.PayloadFormatterFunc(payload),
		ResultFormatter:  asynqmon.ResultFormatterFunc(func(_ string, result []byte) string { return fmt.Sprintf("%d bytes", len(result)) }),
	})}, nil
}

// ServeHTTP refuses what would take a queue with all its tasks away; everything else is the dashboard's.
func (d *dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if queue, ok := strings.CutPrefix(r.URL.Path, queuesPath+"/api/queues/"); ok && r.Method == http.MethodDelete && !strings.Contains(strings.Trim(queue, "/"), "/") {
		http.Error(w, "queues are the service's lanes and are not deleted: pause it, or archive its tasks", http.StatusForbidden)
		return
	}
	d.HTTPHandler.ServeHTTP(w, r)
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
