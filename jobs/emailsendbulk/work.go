package emailsendbulk

import (
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
)

// Handler returns the kind's handler, which does the work of emailsend.
func Handler(j emailsend.Job) queue.Handler { return Kind.Handle(j.Work) }

// Hook is emailsend.Hook for this kind.
func Hook() queue.Hook { return Kind.Hook(emailsend.Stopped, emailsend.Revived) }
