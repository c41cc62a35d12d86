package leadscoremany

import (
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
)

// Handler returns the kind's handler, which does the work of leadscore.
func Handler(j leadscore.Job) queue.Handler { return Kind.HandleTx(j.Work) }
