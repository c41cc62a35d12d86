package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// PostgresWithClock starts a PostgresServer and returns a function that sets how far its clock is ahead of the
// machine's. It needs libfaketime, without which the test is skipped, or fails if CI=true.
func PostgresWithClock(t testing.TB) (p *PostgresServer, set func(ahead time.Duration)) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(found) == 0 {
		const reason = "libfaketime is not installed (Debian package faketime), so no clock of Postgres can be set"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip("SKIPPED: " + reason)
	}
	var file string
	set = func(ahead time.Duration) {
		t.Helper()
		text := fmt.Sprintf("%+d", int64(ahead.Seconds()))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // the server's user reads it
			t.Fatal(err)
		}
	}
	p = startPostgres(t, func(home string) []string {
		file = filepath.Join(home, "clock")
		set(0)
		return []string{
			"LD_PRELOAD=" + found[0], "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_NO_CACHE=1",
			"FAKETIME_DONT_FAKE_MONOTONIC=1",
		}
	})
	return p, set
}
