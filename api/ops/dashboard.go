package ops

import (
	"log/slog"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"
	"github.com/redis/go-redis/v9"
)

// dashboard is asynq's dashboard over the queues in Redis. It intercepts changes: it updates the job's row in Postgres
// first and then asynq's task, so that the page shows the real state.
type dashboard struct {
	*asynqmon.HTTPHandler
	page     *dashboardPage
	redis    redis.UniversalClient
	inspect  *asynq.Inspector
	jobs     *jobsAPI // nil if read-only
	readOnly bool
	log      *slog.Logger
}
