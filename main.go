// Funnelwork is a marketing and CRM service: contacts and their lead scores, signed webhooks, billing, the social and ad
// accounts of its orgs, and their own looks and domains. What it can be asked to do is in internal/command.
package main

import (
	"os"
	"runtime/debug"

	"github.com/funnelwork/funnelwork/internal/command"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // little lives long here: a tenth of a read's time for some 50 MB
	}
	os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
}
