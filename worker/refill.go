package worker

import "github.com/funnelwork/funnelwork/internal/queue"

// ended requests a vacuum when enough runs have ended.
func (w *Worker) ended(*queue.Claimed) { w.vacuumer.RunEnded() }
