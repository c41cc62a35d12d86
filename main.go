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
		debug.SetGCPercent(400) // the heap is short-lived: 50 MB more save a tenth of a read's time
	}
	os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
}
