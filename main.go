// Funnelwork is a marketing and CRM service: contacts and their lead scores, signed webhooks, billing, social and ad
// accounts, and branding and custom domains for its orgs. internal/command implements its commands.
package main

import (
	"os"
	"runtime/debug"

	"github.com/funnelwork/funnelwork/internal/command"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent(os.Args[1:]))
	}
	os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
}

// gcPercent returns how much the heap of a command may grow, in percent, until garbage is collected. It is short-lived:
// 50 MB more save a tenth of a read's time. A worker also holds what mail servers of strangers send, up to 32 MiB, of
// which five times as much would become garbage before a collection.
func gcPercent(args []string) int {
	if len(args) > 0 && args[0] == "worker" {
		return 100
	}
	return 400
}
