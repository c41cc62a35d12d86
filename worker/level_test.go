package worker

import (
	"log/slog"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

func TestRunsOfTheSystemOrgAreLoggedForDebuggingUnlessTheyFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outcome     string
		system, org slog.Level
	}{
		{string(store.Done), slog.LevelDebug, slog.LevelInfo},
		{string(store.Snoozed), slog.LevelDebug, slog.LevelInfo},
		{string(store.Failed), slog.LevelWarn, slog.LevelWarn},
		{string(store.Released), slog.LevelInfo, slog.LevelInfo},
		{string(store.Died), slog.LevelError, slog.LevelError},
		{fenced, slog.LevelWarn, slog.LevelWarn},
		{letGo, slog.LevelWarn, slog.LevelWarn},
	} {
		if got := levelOf(id.ID{}, c.outcome); got != c.system {
			t.Errorf("%s of the system org: %s, want %s", c.outcome, got, c.system)
		}
		if got := levelOf(id.New(), c.outcome); got != c.org {
			t.Errorf("%s of an org: %s, want %s", c.outcome, got, c.org)
		}
	}
}
