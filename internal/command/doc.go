// Package command is the program's command line: the settings, and what each command is wired of. It holds no rule of
// the product.
//
//	settings.go   flag, else environment, else default: read here and nowhere else
//	checks.go     what each setting has to comply with, checked before anything starts
//	help.go       the overview, the version, and errors about unknown commands
//	process.go    a command at work: its tasks, and what is undone in reverse at its end
//	open.go       what it opens: servers, pools, keyset
//	role.go up.go api, worker and scheduler, each a process of its own; up is all of them with private servers
//	welcome.go    the block that up prints when it serves
//	serve.go      the API and the ops listener
//	work.go       the worker and the scheduler
//	outside.go    billing, accounts, language models: the real ones, sandboxes of ours, or none
//	parts.go      which of the three it is, and how a process says so
//	domains.go    custom domains, and an API that waits for its database
//	traces.go     OpenTelemetry, if there is a collector
//	ready.go      the health check of a container
//	user.go billing.go jobs.go keys.go documents.go demo.go   commands that end by themselves
//
// It is main's, and imports whatever main may; nobody else imports it, which the linter holds. It is a directory of
// its own since the wires of all commands had grown past what one reads in one file, and the top level has room for
// one.
package command
